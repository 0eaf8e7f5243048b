import Domain
import FoundationEssentials
import Rooms
import TestSupport
import Testing

@testable import Reminders
@testable import Server
@testable import Sockets

/// Records what a stream sends.
final class RecordingTransport: EventTransport {
    var drained: (() -> Void)?
    var closed: (() -> Void)?
    private let events: EventRecorder<String>

    init(_ events: EventRecorder<String>) {
        self.events = events
    }

    func write(_ piece: StreamChunk) {
        let bytes = piece.bytes(chunked: false)
        events.append(withExtendedLifetime(bytes) { String(decoding: bytes.storage, as: UTF8.self) })
    }

    func finish() {
        events.append("the end")
    }
}

/// The streams of one loop, with recorders instead of connections.
struct RecordedStreams {
    let loops: EventLoopGroup
    let streams: EventStreams
    /// The reminders that the streams reported as delivered.
    let acknowledged = EventRecorder<[UUID]>()

    static func run(_ body: (RecordedStreams) async throws -> Void) async throws {
        let recorded = try RecordedStreams()
        await recorded.loops.loops[0].start()
        do {
            try await body(recorded)
            await recorded.loops.loops[0].stop()
        } catch {
            await recorded.loops.loops[0].stop()
            throw error
        }
    }

    private init() throws {
        loops = try EventLoopGroup(count: 1)
        let rooms = Rooms(loops: loops.loops, anyRoomIsOpen: false, aleFrame: { _ in [] }, report: { _ in })
        streams = EventStreams(
            loops: loops.loops, rooms: rooms, keys: RoomKeys(), limitPerDevice: 100, metrics: EventStreamMetrics()
        ) { [acknowledged] in acknowledged.append($0) }
    }

    /// Opens a stream that sends to the recorder. Its first comment is already taken.
    func open(
        _ device: String, _ window: ChangeWindow = .near, backlog: ReminderBacklog = .init(unseen: [], seen: [])
    ) async throws -> EventRecorder<String> {
        let device = DeviceID(stored: device)
        #expect(await streams.takePlace(for: device))
        let events = EventRecorder<String>()
        await loops.loops[0].run { reactor in
            let streams = streams.shard(on: reactor)
            streams.begin(streams.reserve(device, window: window), RecordingTransport(events), backlog: backlog)
        }
        try await events.next("the first comment") { $0 == ": reminders\n\n" }
        return events
    }

    /// Returns a stream's events without the comments that are sent every 15 seconds.
    static func events(_ recorder: EventRecorder<String>) -> [String] { recorder.all.filter { !$0.hasPrefix(":") } }

    /// Returns when the loop has performed everything submitted before.
    func settle() async {
        await loops.loops[0].run { _ in }
    }
}
