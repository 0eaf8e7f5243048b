package import Rooms

/// A daemon's bus at a ``MemoryHub``.
package struct MemoryBus: Bus {
    package let id: DaemonID
    private let hub: MemoryHub

    init(hub: MemoryHub, id: DaemonID) {
        self.hub = hub
        self.id = id
    }

    package var packetSize: Int { 8_192 }

    package func start(_ receive: @escaping @Sendable (BusEvent) -> Void) async { hub.start(id, receive) }

    package func stop() async { await hub.stop(id) }

    package func send(_ packets: [BusPacket]) async throws(BusError) { try hub.send(packets, from: id) }
}
