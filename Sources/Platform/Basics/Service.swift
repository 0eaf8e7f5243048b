/// A long-lived part of a program.
package protocol Service: Sendable {
    /// Works until ``stop(within:)``; returns when all that it began has ended. Once.
    func run() async
    /// Ends ``run()``. What is in hand is finished if that takes no longer than `limit`, and given up then. May be called again,
    /// and of a service that never ran.
    func stop(within limit: Duration) async
}

/// Services that live together, each on those before it: started in order, ended in the opposite one.
package actor ServiceGroup {
    private let services: [any Service]
    private var running: [Task<Void, Never>] = []
    private var stopping: Task<Bool, Never>?

    package init(_ services: [any Service]) {
        self.services = services
    }

    /// Once; nothing after ``stop(within:)``.
    package func start() {
        guard running.isEmpty, stopping == nil else { return }
        running = services.map { service in Task { await service.run() } }
    }

    /// Stops one after the other, the last first, and all within `limit`: each gets what those before it have left. Whoever calls
    /// again waits for the same end.
    ///
    /// - Returns: Whether all had ended by then.
    @discardableResult
    package func stop(within limit: Duration) async -> Bool {
        let stopping = stopping ?? Task { await end(by: .now() + limit) }
        self.stopping = stopping
        return await stopping.value
    }

    private func end(by deadline: MonotonicTime) async -> Bool {
        var haveEnded = true
        for (index, service) in services.enumerated().reversed() {
            let run = index < running.count ? running[index] : nil
            let end = Task {
                await service.stop(within: max(.zero, deadline - .now()))
                await run?.value
            }
            if await !end.ends(within: deadline - .now()) { haveEnded = false }
        }
        return haveEnded
    }
}
