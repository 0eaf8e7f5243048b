/// Carries payloads from one relay or bare client to all others: by PostgreSQL's NOTIFY or by RabbitMQ.
protocol Carrier: AnyObject {
    /// Sockets to watch. Call ``ready(_:receive:)`` when one is readable.
    var sockets: [Int32] { get }
    /// The last payloads are still being sent, so the next ones have to wait.
    var isSending: Bool { get }
    /// Limits of a payload, equal to those of the daemons: the most rooms, and the bytes before the first of them.
    var mostEntries: Int { get }
    var headerBytes: Int { get }

    /// Sends payloads. They must all be different.
    func send(_ payloads: [[UInt8]]) throws(BenchFailure)

    /// Reads from `socket`, one of ``sockets``, which is readable.
    func ready(_ socket: Int32, receive: ([UInt8]) throws(BenchFailure) -> Void) throws(BenchFailure)
}
