import Access
import Basics
package import Sockets

/// Its loop, and what it waits for there.
extension SubscriptionOutlet {
    package var reactor: Reactor { shard.reactor }
    package var loop: EventLoop { shard.cables.loops[reactor.index] }

    /// Has `work` done elsewhere, and gives its outcome to `then` on this loop; what comes of it when the subscription is over by then, to
    /// `unwanted`. Actions that come meanwhile wait. An address that asks for more than it may has to wait, too.
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
        shard.run(work) { [self] result in
            guard !isOver else {
                if case .success(let value) = result { unwanted(value) }
                return
            }
            connection.endWork(self) { then(result) }
        }
    }

    /// Calls `action` once the database may have come back, unless the subscription is over by then.
    package func retry(_ action: @escaping () -> Void) { call(after: CableLimits.retryPause, action) }

    /// Calls `action` once what follows a confirmation need not be held back, unless the subscription is over by then.
    package func afterConfirmPause(_ action: @escaping () -> Void) { call(after: CableLimits.confirmPause, action) }

    /// Calls `action` once, later, unless the subscription is over by then.
    func call(after delay: Duration, _ action: @escaping () -> Void) {
        reactor.schedule(after: delay) { [weak self] in
            guard let self, !isOver else { return }
            action()
        }
    }
}
