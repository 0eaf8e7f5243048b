/// Assembles a message from the parts that the broker sends: the delivery, the header with the properties and the
/// length of the content, and the content in any number of parts.
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

    /// - Returns: The message if it has no content, or `nil` if content follows.
    mutating func header(_ properties: AMQPProperties, bodySize: UInt64) throws(AMQPError) -> AMQPDelivery? {
        guard case .header(var delivery) = state else { throw Self.disorder }
        delivery.properties = properties
        if bodySize > UInt64(longestBody) {
            delivery.body = nil
        } else {
            // The reserved memory is bounded, because the announced content may never arrive.
            delivery.body?.reserveCapacity(min(Int(bodySize), 131_072))
        }
        return continueAfter(delivery, missing: bodySize)
    }

    /// - Returns: The message if it is complete, or `nil` if more content follows.
    mutating func body(_ part: UnsafeRawBufferPointer) throws(AMQPError) -> AMQPDelivery? {
        guard case .body(var delivery, let missing) = state, part.count <= missing else { throw Self.disorder }
        // The state must not refer to the content while the content grows, because each growth would then copy the
        // content.
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
