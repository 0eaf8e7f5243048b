/// Assembles a message from its parts: the delivery, the properties with the length of the content, and the content in
/// any number of parts.
///
/// ```
/// | state     | delivery  | header                                     | body                          |
/// |-----------|-----------|--------------------------------------------|-------------------------------|
/// | idle      | → header  | (a mistake)                                | (a mistake)                   |
/// | header    | (mistake) | → body; idle with the message if empty     | (a mistake)                   |
/// | body      | (mistake) | (a mistake)                                | → body; idle with the message |
/// ```
struct MessageAssembly {
    private enum State {
        case idle
        case header(AMQPDelivery)
        case body(AMQPDelivery, missing: UInt64)
    }

    private let longestBody: Int
    private var state = State.idle

    init(longestBody: Int) {
        self.longestBody = longestBody
    }

    mutating func begin(_ delivery: AMQPDelivery) throws(AMQPError) {
        guard case .idle = state else { throw Self.disorder }
        state = .header(delivery)
    }

    /// - Returns: The message, if it has no content.
    mutating func header(_ properties: AMQPProperties, bodySize: UInt64) throws(AMQPError) -> AMQPDelivery? {
        guard case .header(var delivery) = state else { throw Self.disorder }
        delivery.properties = properties
        if bodySize > UInt64(longestBody) {
            delivery.body = nil
        } else {
            // Bounded, because the announced content may never come.
            delivery.body?.reserveCapacity(min(Int(bodySize), 131_072))
        }
        return continueAfter(delivery, missing: bodySize)
    }

    /// - Returns: The message, if it is complete.
    mutating func body(_ part: UnsafeRawBufferPointer) throws(AMQPError) -> AMQPDelivery? {
        guard case .body(var delivery, let missing) = state, part.count <= missing else { throw Self.disorder }
        // The state must not hold the content while it grows, or it would be copied.
        state = .idle
        delivery.body?.append(contentsOf: part)
        return continueAfter(delivery, missing: missing - UInt64(part.count))
    }

    private mutating func continueAfter(_ delivery: AMQPDelivery, missing: UInt64) -> AMQPDelivery? {
        guard missing == 0 else {
            state = .body(delivery, missing: missing)
            return nil
        }
        state = .idle
        return delivery
    }

    private static var disorder: AMQPError { .unavailable("the broker sent the parts of a message in the wrong order") }
}
