import Basics
import Glibc

/// The state that a connection's thread shares with its callers: the waiting commands, and the socket, which a caller
/// may shut down.
final class ConnectionMailbox: Sendable {
    /// The maximum number of waiting commands.
    private static let limit = 1_024

    private enum Intake {
        /// No commands are accepted, because there is no connection. The error contains the reason.
        case closed(AMQPError)
        case open
    }

    private struct State {
        var intake = Intake.closed(.unavailable("there is no connection yet"))
        var commands: [ConnectionCommand] = []
        /// The socket's descriptor, or -1 without a socket.
        var socket: Int32 = -1
        var isStopping = false
        var hasEnded = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    let wakeUp = WakeUp()
    private let state = Locked(State())

    // MARK: - For callers, on any thread

    /// Enqueues a command. If the mailbox is closed or full, the command fails at once.
    func submit(_ command: ConnectionCommand) {
        let failure: AMQPError? = state.withLock { state in
            guard case .open = state.intake else {
                guard case .closed(let error) = state.intake else { return nil }
                return error
            }
            guard state.commands.count < Self.limit || !command.hasCaller else {
                return .refused("too many messages are waiting to be confirmed")
            }
            state.commands.append(command)
            return nil
        }
        if let failure { command.fail(failure) } else { wakeUp.signal() }
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        wakeUp.signal()
    }

    /// Shuts the socket down, so that every call on it fails.
    func cut() {
        state.withLock { state in
            if state.socket >= 0 { _ = shutdown(state.socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Returns when the thread has ended.
    func awaitEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waitingForEnd.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: - For the connection's thread

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether the thread has work: a waiting command, or the request to stop. The thread checks it before it sleeps,
    /// because an earlier wake-up may have consumed the signal for this work.
    var hasWork: Bool { state.withLock { $0.isStopping || !$0.commands.isEmpty } }

    /// Sets the socket that ``cut()`` shuts down. The caller keeps the socket open until it sets `nil`.
    func setSocket(_ descriptor: Int32?) {
        state.withLock { $0.socket = descriptor ?? -1 }
    }

    func open() {
        state.withLock { $0.intake = .open }
    }

    /// Fails all waiting commands and all later ones, until the mailbox is opened again.
    func close(_ error: AMQPError) {
        let commands = state.withLock { state in
            state.intake = .closed(error)
            defer { state.commands = [] }
            return state.commands
        }
        for command in commands { command.fail(error) }
    }

    func takeCommands() -> [ConnectionCommand] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    func ended() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension ConnectionCommand {
    fileprivate var hasCaller: Bool {
        switch self {
        case .publish: true
        case .acknowledge, .reject, .declare, .reconnect: false
        }
    }
}
