import Domain
package import Features
import Postgres
package import Schema
package import Server
package import Settings
import Wire

/// Performs operators' commands in this daemon, and notifies the other daemons.
package struct DaemonControl: ControlActions {
    private let application: Application
    private let ending: RoomEnding
    private let reminder: TestReminder
    private let exports: ExportStore
    private let functions: FunctionsRevision
    private let eraser: DeviceEraser
    private let kicks: ConnectionKicks
    private let drain: ConnectionDrain
    /// Returns the number of other daemons on the database.
    private let others: @Sendable () -> Int

    package init(
        application: Application, ending: RoomEnding, reminder: TestReminder, exports: ExportStore,
        functions: FunctionsRevision, eraser: DeviceEraser, kicks: ConnectionKicks, drain: ConnectionDrain,
        others: @escaping @Sendable () -> Int
    ) {
        self.application = application
        self.ending = ending
        self.reminder = reminder
        self.exports = exports
        self.functions = functions
        self.eraser = eraser
        self.kicks = kicks
        self.drain = drain
        self.others = others
    }

    package func perform(_ order: ControlOrder, _ reply: ControlReply) async throws -> Int {
        do {
            return try await act(order, reply)
        } catch let error as PostgresError {
            guard error.meansOtherDefinitions, let revision = try? await functions.newer() else { throw error }
            throw ControlFailure(
                """
                the database's functions (revision \(revision)) are newer than this daemon, which can't run this command with them: \
                use a daemon that is upgraded (\(error.message))
                """)
        }
    }

    private func act(_ order: ControlOrder, _ reply: ControlReply) async throws -> Int {
        switch order {
        case .connections: return try await showConnections(reply)
        case .close(let room): return try await ending.run(room, reply)
        case .kick(let target): return try await kicks.run(target, others: others, reply)
        case .drain(let rate):
            noteScope("this drains", reply)
            try await drain.run(perSecond: rate, reply)
        case .remind(let device): try await reminder.run(device, reply)
        case .export(let device): return try await export(device, reply)
        case .erase(let device):
            try await eraser.erase(device)
            reply.row { $0.member("erased", true) }
        }
        return 0
    }

    /// Adds a note that the command concerns only this daemon, if there are other daemons.
    private func noteScope(_ what: String, _ reply: ControlReply) {
        let others = others()
        guard others > 0 else { return }
        reply.note(
            "\(what) only daemon \(kicks.daemon) on \(Configuration.machineName); other daemons on the database: \(others)"
        )
    }

    private func showConnections(_ reply: ControlReply) async throws -> Int {
        noteScope("this shows", reply)
        var count = 0
        try await application.connections { records in
            for record in records { reply.row(record.write) }
            count += records.count
            try await reply.awaitTaking()
        }
        return count
    }

    private func export(_ device: DeviceID, _ reply: ControlReply) async throws -> Int {
        var count = 0
        try await exports.export(device) { lines in
            for line in lines { reply.write(Array(line.utf8)) }
            count += lines.count
            try await reply.awaitTaking()
        }
        return count
    }
}

/// The reason why a command failed.
struct ControlFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
