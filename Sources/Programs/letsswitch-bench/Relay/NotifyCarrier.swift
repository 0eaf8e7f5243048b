import CLibpq
import Wire

/// Uses PostgreSQL's NOTIFY as the daemons do: each client listens to its own channel, and one statement at a time
/// notifies all others. Each client has two connections, like a daemon. libpq blocks only while a socket's buffer is
/// full.
final class NotifyCarrier: Carrier {
    /// The statement that daemons use too.
    private static let notify = """
        SELECT pg_notify(channel, payload)
        FROM unnest(string_to_array($1, ','), string_to_array($2, ',')) AS message (channel, payload)
        """

    private let listening: OpaquePointer
    private let sending: OpaquePointer
    let sockets: [Int32]
    /// The channels of the other clients.
    private let channels: [String]
    private(set) var isSending = false

    let headerBytes = 26
    let mostEntries = (7_999 / 4 * 3 - 26) / RelayBus.entryBytes

    /// - Parameters:
    ///   - number: The client's index, from 0 to `count` - 1.
    ///   - conninfo: The conninfo of the database.
    init(number: Int, of count: Int, conninfo: String) throws(BenchFailure) {
        listening = try Self.connect(conninfo)
        sending = try Self.connect(conninfo)
        sockets = [PQsocket(listening), PQsocket(sending)]
        channels = (0..<count).filter { $0 != number }.map { "bench_relay_\($0)" }
        try Self.run("LISTEN bench_relay_\(number)", on: listening)
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

    func send(_ payloads: [[UInt8]]) throws(BenchFailure) {
        guard !channels.isEmpty else { return }
        var names: [String] = []
        var texts: [String] = []
        for payload in payloads {
            let text = Base64.encode(payload)
            for channel in channels {
                names.append(channel)
                texts.append(text)
            }
        }
        let sent = names.joined(separator: ",").withCString { names in
            texts.joined(separator: ",").withCString { texts in
                PQsendQueryPrepared(sending, "notify", 2, [names, texts], nil, nil, 0)
            }
        }
        guard sent == 1 else { throw Self.failure(of: sending) }
        isSending = true
    }

    func ready(_ socket: Int32, receive: ([UInt8]) throws(BenchFailure) -> Void) throws(BenchFailure) {
        let connection = socket == sockets[0] ? listening : sending
        guard PQconsumeInput(connection) == 1 else { throw Self.failure(of: connection) }
        while let notification = PQnotifies(connection) {
            let payload = String(cString: notification.pointee.extra)
            PQfreemem(notification)
            guard let bytes = Base64.decode(payload) else { throw BenchFailure("no payload of a relay's: \(payload)") }
            try receive(bytes)
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
}
