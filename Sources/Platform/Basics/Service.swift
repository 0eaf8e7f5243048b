/// A long-lived part of a program.
package protocol Service: Sendable {
    /// Works until ``stop(within:)`` is called. Returns after everything that the service started has ended. Call this
    /// method once.
    func run() async
    /// Ends ``run()``. Finishes the current work if that takes at most `limit`, and abandons it otherwise. May be
    /// called several times, and before ``run()``.
    func stop(within limit: Duration) async
}

/// Services of which each depends on the ones before it. They start in order and stop in reverse order.
package actor ServiceGroup {
    private let services: [any Service]
    private var running: [Task<Void, Never>] = []
    private var stopping: Task<Bool, Never>?

    package init(_ services: [any Service]) {
        self.services = services
    }

    /// Starts the services. Does nothing when it is called again, or after ``stop(within:)``.
    package func start() {
        guard running.isEmpty, stopping == nil else { return }
        running = services.map { service in Task { await service.run() } }
    }

    /// Stops the services one after another, the last one first, all within `limit`. Each service gets the time that is
    /// left. If this method is called again, the caller waits for the same end.
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

/// A service that doesn't use all of its time to stop, so that the services that stop after it have enough.
package struct EarlyEndingService: Service {
    private let service: any Service
    private let reserve: Duration

    /// - Parameter reserve: The part of the time that this service leaves to later ones.
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
