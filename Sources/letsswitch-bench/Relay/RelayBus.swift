import CLibpq
import FoundationEssentials
import Wire

/// What relays need to be one server, and no more: PostgreSQL's NOTIFY, gathered as the daemons gather it.
///
/// Each relay listens to a channel of its own. One statement is under way at a time, which tells all other relays; ales that come
/// meanwhile add up, room by room. Two connections, as the daemons have; libpq blocks only where a socket's buffer is full.
final class RelayBus {
    /// Which of how many relays on which database: `0/2 host=…`.
    struct Place {
        let number: Int
        let count: Int
        let conninfo: String

        init(number: Int, count: Int, conninfo: String) {
            (self.number, self.count, self.conninfo) = (number, count, conninfo)
        }

        init(_ text: String) throws(BenchFailure) {
            let words = text.split(separator: " ", maxSplits: 1)
            let numbers = words.first?.split(separator: "/").compactMap { Int($0) } ?? []
            guard words.count == 2, numbers.count == 2 else { throw BenchFailure("\(text) is no place on a bus") }
            self.init(number: numbers[0], count: numbers[1], conninfo: String(words[1]))
        }

        var text: String { "\(number)/\(count) \(conninfo)" }
    }

    /// As the daemons' statement.
    private static let notify = """
        SELECT pg_notify(channel, payload)
        FROM unnest(string_to_array($1, ','), string_to_array($2, ',')) AS message (channel, payload)
        """
    /// As their payloads: a header; of each room a length, two bytes of kind, the UUID, a number, the ales.
    private static let headerBytes = 26
    private static let entryBytes = 32
    private static let maxEntries = (7_999 / 4 * 3 - headerBytes) / entryBytes

    private let listening: OpaquePointer
    private let sending: OpaquePointer
    /// Those of the two connections.
    let sockets: [Int32]
    /// Of the other relays.
    private let channels: [String]
    /// The rooms' UUIDs, by the relay's number, and the other way round.
    private var ids: [UUID] = []
    private var numbers: [UUID: Int32] = [:]
    /// Ales to be sent, by the room's number, and the rooms that have any.
    private var ales: [Int] = []
    private var waiting: [Int32] = []
    private var isSending = false
    private var number: UInt64 = 0

    init(_ place: Place) throws(BenchFailure) {
        listening = try Self.connect(place.conninfo)
        sending = try Self.connect(place.conninfo)
        sockets = [PQsocket(listening), PQsocket(sending)]
        channels = (0..<place.count).filter { $0 != place.number }.map { "bench_relay_\($0)" }
        try Self.run("LISTEN bench_relay_\(place.number)", on: listening)
        try Self.run("SET synchronous_commit = off", on: sending)
        let prepared = PQprepare(sending, "notify", Self.notify, 2, nil)
        defer { PQclear(prepared) }
        guard PQresultStatus(prepared) == PGRES_COMMAND_OK else { throw Self.failure(of: sending) }
    }

    deinit {
        PQfinish(listening)
        PQfinish(sending)
    }

    private static func connect(_ conninfo: String) throws(BenchFailure) -> OpaquePointer {
        guard let connection = PQconnectdb(conninfo) else { throw BenchFailure("out of memory") }
        guard PQstatus(connection) == CONNECTION_OK else { throw failure(of: connection) }
        return connection
    }

    private static func run(_ command: String, on connection: OpaquePointer) throws(BenchFailure) {
        let result = PQexec(connection, command)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure(of: connection) }
    }

    private static func failure(of connection: OpaquePointer) -> BenchFailure {
        BenchFailure("the relay's database: \(String(cString: PQerrorMessage(connection)))")
    }

    // MARK: Out

    /// The relay has a room with this number now, which another one may have had.
    func register(_ room: Int32, _ key: RelayRoomKey) throws(BenchFailure) {
        guard let id = key.id else { throw BenchFailure("a room without a UUID") }
        if Int(room) < ids.count {
            numbers[ids[Int(room)]] = nil
            ids[Int(room)] = id
        } else {
            ids.append(id)
            ales.append(0)
        }
        numbers[id] = room
    }

    @inline(__always)
    func add(_ count: Int, in room: Int32) {
        if ales[Int(room)] == 0 { waiting.append(room) }
        ales[Int(room)] += count
    }

    /// Sends what has gathered, unless something is under way.
    func send() throws(BenchFailure) {
        guard !isSending, !waiting.isEmpty, !channels.isEmpty else { return }
        var names: [String] = []
        var payloads: [String] = []
        var bytes = header()
        func close() {
            let payload = Base64.encode(bytes)
            for channel in channels {
                names.append(channel)
                payloads.append(payload)
            }
        }
        for room in waiting {
            if bytes.count == Self.headerBytes + Self.maxEntries * Self.entryBytes {
                close()
                bytes = header()
            }
            append(room, to: &bytes)
        }
        close()
        waiting.removeAll(keepingCapacity: true)
        let sent = names.joined(separator: ",").withCString { names in
            payloads.joined(separator: ",").withCString { payloads in
                PQsendQueryPrepared(sending, "notify", 2, [names, payloads], nil, nil, 0)
            }
        }
        guard sent == 1 else { throw Self.failure(of: sending) }
        isSending = true
    }

    private func append(_ room: Int32, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: [0, 30, 1, 4])
        withUnsafeBytes(of: ids[Int(room)].uuid) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt64(0)) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(clamping: ales[Int(room)])) { bytes.append(contentsOf: $0) }
        ales[Int(room)] = 0
    }

    private func header() -> [UInt8] {
        number += 1
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headerBytes + Self.maxEntries * Self.entryBytes)
        // No two payloads of a transaction may be equal: PostgreSQL would deliver one.
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: repeatElement(0, count: Self.headerBytes - bytes.count))
        return bytes
    }

    // MARK: In

    /// One of ``sockets`` is readable.
    func ready(_ socket: Int32, hear: (_ room: Int32, _ ales: Int) -> Void) throws(BenchFailure) {
        let connection = socket == sockets[0] ? listening : sending
        guard PQconsumeInput(connection) == 1 else { throw Self.failure(of: connection) }
        while let notification = PQnotifies(connection) {
            let payload = String(cString: notification.pointee.extra)
            PQfreemem(notification)
            guard let bytes = Base64.decode(payload) else { throw BenchFailure("no payload of a relay's: \(payload)") }
            for start in stride(from: Self.headerBytes, to: bytes.count, by: Self.entryBytes) {
                let (id, ales) = Self.entry(bytes[start..<(start + Self.entryBytes)])
                if let room = numbers[id] { hear(room, ales) }
            }
        }
        guard connection == sending else { return }
        while isSending, PQisBusy(sending) == 0 {
            guard let result = PQgetResult(sending) else {
                isSending = false
                break
            }
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw Self.failure(of: sending) }
        }
    }

    private static func entry(_ bytes: ArraySlice<UInt8>) -> (UUID, Int) {
        bytes.withUnsafeBytes { bytes in
            (
                UUID(uuid: bytes.loadUnaligned(fromByteOffset: 4, as: uuid_t.self)),
                Int(bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self))
            )
        }
    }
}
