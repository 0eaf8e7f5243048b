import Access
import Basics
package import Sockets

/// The subscription's loop, and its asynchronous work.
extension SubscriptionTransport {
    package var reactor: Reactor { shard.reactor }
    package var loop: EventLoop { shard.cables.loops[reactor.index] }

    /// Runs `work` in a task and passes its result to `then` on this loop, or to `unwanted` if the subscription has
    /// ended. Later actions of the client wait for it. If the client's address exceeds its rate, the work starts later.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value, then: @escaping (Result<Value, any Error>) -> Void,
        unwanted: @escaping (Value) -> Void = { _ in }
    ) {
        connection.beginWork(self)
        ask(work, then: then, unwanted: unwanted)
    }

    private func ask<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value, then: @escaping (Result<Value, any Error>) -> Void,
        unwanted: @escaping (Value) -> Void
    ) {
        guard connection.mayAsk() else {
            return retry { [weak self] in self?.ask(work, then: then, unwanted: unwanted) }
        }
        shard.run(work, for: requester) { [self] result in
            guard !isOver else {
                if case .success(let value) = result { unwanted(value) }
                return
            }
            connection.endWork(self) { then(result) }
        }
    }

    /// Charges a request to the client's address. Returns whether its rate admits it.
    package func mayAsk() -> Bool { connection.mayAsk() }

    /// Calls `action` when the database may be available again, unless the subscription has ended.
    package func retry(_ action: @escaping () -> Void) { call(after: CableLimits.retryPause, action) }

    /// Calls `action` after the pause that follows a confirmation, unless the subscription has ended.
    package func afterConfirmPause(_ action: @escaping () -> Void) { call(after: CableLimits.confirmPause, action) }

    /// Calls `action` once, later, unless the subscription has ended.
    func call(after delay: Duration, _ action: @escaping () -> Void) {
        reactor.schedule(after: delay) { [weak self] in
            guard let self, !isOver else { return }
            action()
        }
    }
}
