package import Domain
package import Observability

/// Erases a device, for every caller.
package struct DeviceEraser: Sendable {
    private let store: ErasureStore
    private let day: any DayNotifier
    private let erasures: ErasureWorker
    private let log: Log
    private let connections: any DeviceConnections

    /// - Parameters:
    ///   - day: Receives the slots that have changed.
    ///   - erasures: Deletes what `store` leaves.
    package init(
        store: ErasureStore, day: any DayNotifier, erasures: ErasureWorker, connections: any DeviceConnections, log: Log
    ) {
        self.store = store
        self.day = day
        self.erasures = erasures
        self.connections = connections
        self.log = log
    }

    package func erase(_ device: DeviceID) async throws {
        let step = try await store.erase(device)
        if step.hasMore { erasures.wake() }
        await day.slotsChanged(step.slots)
        connections.disconnect(device)
        log.info("device erased", ["device": .device(device)])
    }
}

/// The connections and subscriptions on this daemon.
package protocol DeviceConnections: Sendable {
    /// Ends those of a device whose data was erased.
    func disconnect(_ device: DeviceID)
}
