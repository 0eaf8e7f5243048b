import FoundationEssentials
import Glibc
import Server
package import Settings
import Sockets

/// Runs `letsswitchd connections`, `kick` and similar commands: sends the command to the running daemon, and shows the
/// answer.
package struct ControlCommand: Sendable {
    /// The maximum time between two lines of the answer. A drain reports each second. A test reminder reports within
    /// half a minute.
    private static let patience = Duration.seconds(60)

    private let order: ControlOrder
    private let socket: String

    package init(_ order: ControlOrder, socket: String) {
        self.order = order
        self.socket = socket
    }

    /// - Parameters:
    ///   - note: Receives notes for people. Notes aren't rows.
    ///   - show: Writes to standard output, and returns whether everything was written.
    /// - Throws: An error whose description goes to standard error.
    package func run(
        _ layout: InspectionCommand.Layout, note: (String) -> Void = { _ in }, show: (String) -> Bool
    ) throws {
        var rows: [[String?]] = []
        var isWritten = true
        // The command runs to its end even if its output isn't read. After a failed write, nothing more is written.
        func write(_ text: String) { isWritten = isWritten && show(text) }
        try ask(note: note) { line in
            switch layout {
            case .table where order.name != .export:
                let row = try JSONDecoder().decode([String: Cell].self, from: Data(line))
                guard let sentence = sentence(row) else {
                    return rows.append(columns.map { row[$0.name]?.text })
                }
                write(sentence + "\n")
            case .lines, .table: write(String(decoding: line, as: UTF8.self) + "\n")
            }
        }
        if layout == .table, !columns.isEmpty { write(InspectionCommand.table(columns, rows)) }
        guard isWritten else { throw ControlFailure("the output can't be written") }
    }

    /// Calls `body` with each row when it arrives.
    private func ask(note: (String) -> Void, _ body: ([UInt8]) throws -> Void) throws {
        let connection = try connect()
        do throws(SocketError) {
            try connection.write(order.json)
        } catch {
            throw ControlFailure("the daemon doesn't answer: \(error)")
        }
        while let line = try next(connection) {
            let frame = try JSONDecoder().decode(Frame.self, from: Data(line))
            if let sentence = frame.note {
                note(sentence)
            } else if let end = frame.end {
                if end == ControlEnd.done.rawValue { return }
                throw ControlFailure(frame.reason ?? "the command failed")
            } else {
                try body(line)
            }
        }
        throw ControlFailure("the daemon stopped before it answered")
    }

    private func connect() throws(ControlFailure) -> LineSocket {
        do throws(SocketError) {
            return try LineSocket(path: socket, patience: Self.patience)
        } catch {
            switch error.errno {
            case ENOENT, ECONNREFUSED: throw ControlFailure("no daemon is listening at \(socket)")
            case EACCES, EPERM:
                throw ControlFailure("only root and the daemon's user may use \(socket): try sudo")
            default: throw ControlFailure("\(error)")
            }
        }
    }

    private func next(_ connection: LineSocket) throws(ControlFailure) -> [UInt8]? {
        do throws(SocketError) {
            return try connection.next()
        } catch {
            throw ControlFailure("the daemon doesn't answer: \(error)")
        }
    }

    // MARK: For people

    private var columns: [InspectionQuery.Column] {
        switch order.name {
        case .connections, .kick: ConnectionRecord.columns
        case .remind: [.text("channel"), .text("outcome"), .number("count"), .text("reason")]
        case .close, .drain, .export, .erase: []
        }
    }

    /// Returns the sentence for an answer that isn't a table. Returns `nil` for a row of a table.
    private func sentence(_ row: [String: Cell]) -> String? {
        switch order.name {
        case .connections, .kick, .remind, .export: nil
        case .erase: "erased"
        case .close: "closed; connections on this daemon that were in it: \(row["connections"]?.text ?? "0")"
        case .drain: "connections left: \(row["left"]?.text ?? "0")"
        }
    }

    /// The fields of a line other than the row's data.
    private struct Frame: Decodable {
        let note: String?
        let end: String?
        let reason: String?
    }

    /// The value of a field, as text.
    private struct Cell: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                text = "\(number)"
            } else if let isTrue = try? container.decode(Bool.self) {
                text = "\(isTrue)"
            } else {
                text = try container.decode(String.self)
            }
        }
    }
}
