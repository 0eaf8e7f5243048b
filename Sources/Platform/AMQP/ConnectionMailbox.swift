import Basics
import Glibc

/// What a connection's thread and its users share: commands on their way to it, and its socket, to be shut down from outside.
final class ConnectionMailbox: Sendable {
    /// While the thread is at work on one, so many may wait.
    private static let limit = 1_024

    private enum Intake {
        /// Nothing is taken: there is no connection. The words say why.
        case closed(AMQPError)
        case open
    }

    private struct State {
        var intake = Intake.closed(.away("there is no connection yet"))
        var commands: [ConnectionCommand] = []
        /// -1 if there is none.
        var socket: Int32 = -1
        var isStopping = false
        var hasEnded = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    let wakeUp = WakeUp()
    private let state = Locked(State())

    // MARK: - For its users, on any thread

    /// Hands a command over, or fails it at once.
    func submit(_ command: ConnectionCommand) {
        let failure: AMQPError? = state.withLock { state in
            guard case .open = state.intake else {
                guard case .closed(let error) = state.intake else { return nil }
                return error
            }
            guard state.commands.count < Self.limit || !command.hasCaller else {
                return .refused("too much is under way already")
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

    /// Every call on the socket returns with an error.
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

    /// Whether something is to be done, wake-up or not.
    var hasWork: Bool { state.withLock { $0.isStopping || !$0.commands.isEmpty } }

    /// The socket stays open until `nil` is set.
    func setSocket(_ descriptor: Int32?) {
        state.withLock { $0.socket = descriptor ?? -1 }
    }

    func open() {
        state.withLock { $0.intake = .open }
    }

    /// What waits fails, and what comes from now on.
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
