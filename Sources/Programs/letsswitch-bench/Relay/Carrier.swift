/// A carrier of payloads from one relay or bare client to all others, by PostgreSQL's NOTIFY or by RabbitMQ.
protocol Carrier: AnyObject {
    /// The sockets to watch. Call ``ready(_:receive:)`` when one of them is readable.
    var sockets: [Int32] { get }
    /// Whether the last payloads are still being sent, so that the next ones have to wait.
    var isSending: Bool { get }
    /// The maximum number of rooms in a payload, equal to that of the daemons.
    var mostEntries: Int { get }
    /// The number of bytes before the first room in a payload, equal to that of the daemons.
    var headerBytes: Int { get }

    /// Sends payloads. All payloads must be different.
    func send(_ payloads: [[UInt8]]) throws(BenchFailure)

    /// Reads from a readable socket. It must be one of ``sockets``.
    func ready(_ socket: Int32, receive: ([UInt8]) throws(BenchFailure) -> Void) throws(BenchFailure)
}
