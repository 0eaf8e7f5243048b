package import Domain
package import Observability

/// Erases a device, for every caller.
package struct DeviceEraser: Sendable {
    private let store: ErasureStore
    private let erasures: ErasureWorker
    private let log: Log
    private let connections: any DeviceConnections

    /// - Parameter erasures: Deletes what `store` leaves.
    package init(store: ErasureStore, erasures: ErasureWorker, connections: any DeviceConnections, log: Log) {
        self.store = store
        self.erasures = erasures
        self.connections = connections
        self.log = log
    }

    package func erase(_ device: DeviceID) async throws {
        if try await store.erase(device) { erasures.wake() }
        connections.disconnect(device)
        log.info("device erased", ["device": .device(device)])
    }
}

/// The connections and subscriptions on this daemon.
package protocol DeviceConnections: Sendable {
    /// Ends those of a device whose data was erased.
    func disconnect(_ device: DeviceID)
}
