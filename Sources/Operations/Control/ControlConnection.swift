import Basics
import Domain
import Settings
import Sockets
import Wire

/// One command, from its line to the last line of the answer. Used on the loop.
///
/// ```
/// asking ──a line──► working ──► ended
///    └──too long, or too late──────▲
/// ```
final class ControlConnection: StreamSocketHandler {
    private static let maximumRequest = 4_096
    private static let patience = Duration.seconds(5)
    /// The maximum time in which the command must read a piece of the answer.
    private static let answerPatience = Duration.seconds(60)
    /// The maximum size of the answer's unread part in bytes.
    private static let maximumAnswer: UInt32 = 64 << 20

    private enum State {
        case asking([UInt8])
        case working
        case ended
    }

    private let socket: StreamSocket
    private unowned let shard: ControlShard
    private let number: Int
    private let perform: (ControlOrder, Int, UInt32?) -> Void
    private var state = State.asking([])
    /// The closures that wait until the command has read the answer. The argument says whether it has read the answer.
    private var waiting: [(Bool) -> Void] = []

    /// - Parameter perform: Runs the order. Receives the order, the connection's number, and the user id of the peer.
    init(
        _ socket: StreamSocket, on shard: ControlShard, perform: @escaping (ControlOrder, Int, UInt32?) -> Void
    ) {
        self.socket = socket
        self.shard = shard
        self.perform = perform
        shard.lastNumber += 1
        number = shard.lastNumber
        shard.connections[number] = self
        socket.handler = self
        socket.sendLimit = Self.maximumAnswer
        socket.reportsDrain = true
        socket.deadline = socket.reactor.now + Self.patience
    }

    func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
        guard case .asking(var line) = state else { return }
        let newline = bytes.firstIndex(of: UInt8(ascii: "\n"))
        line.append(contentsOf: bytes[..<(newline ?? bytes.endIndex)])
        guard line.count <= Self.maximumRequest else { return end(failedBecause: "the command is too long") }
        state = .asking(line)
        if newline != nil { begin(line) }
    }

    private func begin(_ line: [UInt8]) {
        do throws(RequestError) {
            let order = try RequestFields.decode(ControlOrder.self, from: line)
            state = .working
            socket.deadline = .distantFuture
            perform(order, number, socket.peerUser)
        } catch {
            end(failedBecause: error.reason)
        }
    }

    func write(_ bytes: [UInt8]) {
        guard case .working = state else { return }
        enqueue(bytes)
    }

    /// Calls `taken` with `true` when the command has read the whole answer so far. Calls it with `false` if the
    /// command has disconnected or doesn't read.
    func whenTaken(_ taken: @escaping (Bool) -> Void) {
        guard case .working = state else { return taken(false) }
        guard socket.unsentBytes > 0 else { return taken(true) }
        waiting.append(taken)
        socket.deadline = socket.reactor.now + Self.answerPatience
    }

    private func answerWasTaken(_ isTaken: Bool) {
        let waiting = waiting
        self.waiting = []
        for taken in waiting { taken(isTaken) }
    }

    private func enqueue(_ bytes: [UInt8]) {
        socket.enqueue(SharedBytes(bytes + [UInt8(ascii: "\n")]))
    }

    /// - Parameter reason: `nil` if the command succeeded.
    func end(failedBecause reason: String? = nil) {
        if case .ended = state { return }
        var json = JSONText()
        json.object { object in
            object.member(ControlEnd.member, (reason == nil ? ControlEnd.done : .failed).rawValue)
            object.member("reason", reason)
        }
        enqueue(json.bytes)
        leave()
        socket.finish(sending: Self.patience)
    }

    private func leave() {
        state = .ended
        shard.connections[number] = nil
        answerWasTaken(false)
    }

    func socketReceivedEnd(_ socket: StreamSocket) {
        // A client may stop sending after its command. A client that stops sooner is disconnected.
        if case .asking = state { socket.close() }
    }

    func socketDeadlinePassed(_ socket: StreamSocket) {
        if case .working = state { return socket.close() }
        end(failedBecause: "no command arrived in time")
    }

    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) { leave() }

    func serverStops(_ socket: StreamSocket) {}

    func socketDidDrain(_ socket: StreamSocket) {
        guard case .working = state else { return }
        socket.deadline = .distantFuture
        answerWasTaken(true)
    }
}

/// The outcome in the last line of an answer.
enum ControlEnd: String {
    case done, failed

    static let member = "end"
}
