/// A long-lived part of a program.
package protocol Service: Sendable {
    /// Works until ``stop(within:)``, and returns after everything it started has ended. Call it once.
    func run() async
    /// Ends ``run()``. Finishes the work in hand if that takes at most `limit`, and abandons it otherwise. May be
    /// called again, and before ``run()``.
    func stop(within limit: Duration) async
}

/// Services that depend on the ones before them: started in order, stopped in reverse.
package actor ServiceGroup {
    private let services: [any Service]
    private var running: [Task<Void, Never>] = []
    private var stopping: Task<Bool, Never>?

    package init(_ services: [any Service]) {
        self.services = services
    }

    /// Starts the services once. Does nothing after ``stop(within:)``.
    package func start() {
        guard running.isEmpty, stopping == nil else { return }
        running = services.map { service in Task { await service.run() } }
    }

    /// Stops one service after the other, the last first, all within `limit`. Each gets the time that the ones before
    /// it left. Further callers wait for the same end.
    ///
    /// - Returns: Whether all services have ended in time.
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

/// A service that leaves part of its ending time to the services that end after it.
package struct EarlyEndingService: Service {
    private let service: any Service
    private let reserve: Duration

    /// - Parameter reserve: The part of the ending time that is left to later services.
    package init(service: any Service, reserve: Duration) {
        self.service = service
        self.reserve = reserve
    }

    package func run() async {
        await service.run()
    }

    package func stop(within limit: Duration) async {
        await service.stop(within: max(.zero, limit - reserve))
    }
}
