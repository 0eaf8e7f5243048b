import Sockets

/// All channels of this daemon at work. Any thread.
struct Couriers: Sendable {
    let couriers: [Courier]

    var metrics: [ChannelMetrics] { couriers.map(\.metrics) }

    /// There may be something to send.
    func wake() {
        for courier in couriers { courier.wake() }
    }

    func wake(_ name: ChannelName) {
        for courier in couriers where courier.name == name { courier.wake() }
    }

    /// Tells the database what this daemon serves.
    func enter() async throws {
        for courier in couriers { try await courier.enter() }
    }

    /// Works until ``stop(within:)``.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for courier in couriers { group.addTask { await courier.run() } }
        }
    }

    func stop(within patience: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for courier in couriers { group.addTask { await courier.stop(within: patience) } }
        }
    }
}
