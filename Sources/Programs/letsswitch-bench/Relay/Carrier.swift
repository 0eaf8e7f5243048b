/// What carries payloads from one relay, or bare client, to all the others: PostgreSQL's NOTIFY, or RabbitMQ.
protocol Carrier: AnyObject {
    /// To be watched; ``ready(_:hear:)`` is called when one is readable.
    var sockets: [Int32] { get }
    /// The last payloads are still under way: those to come have to wait.
    var isSending: Bool { get }
    /// As the daemons gather: rooms in one payload at the most, and bytes before the first of them.
    var mostEntries: Int { get }
    var headerBytes: Int { get }

    /// No two may be equal.
    func send(_ payloads: [[UInt8]]) throws(BenchFailure)

    /// One of ``sockets`` is readable: takes what there is.
    func ready(_ socket: Int32, hear: ([UInt8]) throws(BenchFailure) -> Void) throws(BenchFailure)
}
