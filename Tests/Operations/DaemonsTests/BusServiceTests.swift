import Basics
import Observability
import Postgres
import Rooms
import TestSupport
import Testing

@testable import Daemons

/// The start and the stop of a daemon's bus.
@Suite struct BusServiceTests {
    /// A bus that takes a while to stop.
    private struct SlowBus: Bus {
        let number: Int
        let calls: EventRecorder<String>
        let mayStop: AsyncStream<Void>

        var packetSize: Int { 8_192 }
        func start(_ receive: @escaping @Sendable (BusEvent) -> Void) async { calls.append("start \(number)") }
        func send(_ packets: [BusPacket]) async throws(BusError) {}

        func stop() async {
            calls.append("stop \(number)")
            for await _ in mayStop {}
            calls.append("stopped \(number)")
        }
    }

    @Test("A bus that is needed again while the last one ends starts after it")
    func endAndBeginning() async throws {
        let calls = EventRecorder<String>()
        let (mayStop, gate) = AsyncStream.makeStream(of: Void.self)
        let made = Counter()
        let own = DaemonInfo(id: DaemonID(), host: "own", build: "1", language: 1, bus: BusChoice.automatic.busName)
        let service = BusService(
            .automatic, own,
            rooms: Rooms(loops: [], anyRoomIsOpen: true, aleFrame: { _ in [0x82, 0] }, report: { _ in }), grace: .zero,
            database: PostgresClient(configuration: PostgresConfiguration(conninfo: "")), metrics: BusMetrics(),
            log: Log(level: .error, format: nil)
        ) {
            made.add()
            return SlowBus(number: Int(made.value), calls: calls, mayStop: mayStop)
        }
        let other = DaemonInfo(id: DaemonID(), host: "other", build: "1", language: 1, bus: own.bus)
        await service.take(.others([other]))
        try await calls.next("the first begins") { $0 == "start 1" }
        await service.take(.others([]))
        try await calls.next("it ends") { $0 == "stop 1" }
        await service.take(.others([other]))
        gate.finish()
        try await calls.next("the second begins") { $0 == "start 2" }
        #expect(calls.all == ["start 1", "stop 1", "stopped 1", "start 2"])
        await service.stop(within: .seconds(2))
    }

    @Test("A daemon that was declared dead stores its state again")
    func forgotten() async {
        let calls = Counter()
        let service = BusService(
            .none,
            DaemonInfo(id: DaemonID(), host: "own", build: "1", language: 1, bus: BusChoice.none.busName),
            rooms: Rooms(loops: [], anyRoomIsOpen: true, aleFrame: { _ in [0x82, 0] }, report: { _ in }), grace: .zero,
            database: PostgresClient(configuration: PostgresConfiguration(conninfo: "")), metrics: BusMetrics(),
            log: Log(level: .error, format: nil), removed: { calls.add() },
            bus: { SlowBus(number: 0, calls: EventRecorder<String>(), mayStop: AsyncStream { $0.finish() }) })
        await service.take(.others([]))
        #expect(calls.value == 0)
        await service.take(.removed)
        #expect(calls.value == 1)
    }
}
