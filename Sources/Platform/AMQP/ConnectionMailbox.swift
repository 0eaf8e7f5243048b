import Basics
import Glibc

/// The state shared by a connection's thread and its users: waiting commands, and the socket, which users may shut
/// down.
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
        /// -1 without a socket.
        var socket: Int32 = -1
        var isStopping = false
        var hasEnded = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    let wakeUp = WakeUp()
    private let state = Locked(State())

    // MARK: - For its users, on any thread

    /// Enqueues a command, or fails it at once.
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

    /// Makes every call on the socket fail.
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

    // MARK: - For the thread

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether there is work, with or without a wake-up.
    var hasWork: Bool { state.withLock { $0.isStopping || !$0.commands.isEmpty } }

    /// The socket must stay open until `nil` is set.
    func setSocket(_ descriptor: Int32?) {
        state.withLock { $0.socket = descriptor ?? -1 }
    }

    func open() {
        state.withLock { $0.intake = .open }
    }

    /// Fails all waiting and later commands.
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
