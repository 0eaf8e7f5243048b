import Crypto
import Domain
import FoundationEssentials
import Wire

/// A delivery in the format of Standard Webhooks: a body and signed header fields. Attempts have the same body and
/// different timestamps.
///
/// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
struct WebhookMessage: Sendable, Hashable {
    let id: String
    let body: [UInt8]

    init(_ delivery: Delivery) {
        id = delivery.messageId.text
        body = Array("{\(Self.members(of: delivery))}".utf8)
    }

    /// Creates one message for several deliveries. The message's body is an array with the body and the id of each
    /// delivery. Each attempt needs a new id for the message, because the next attempt may combine other deliveries.
    init(together deliveries: [Delivery], id: UUID) {
        self.id = id.text
        let elements = deliveries.map { #"{"id":"\#($0.messageId.text)",\#(Self.members(of: $0))}"# }
        body = Array("[\(elements.joined(separator: ","))]".utf8)
    }

    private static func members(of delivery: Delivery) -> String {
        #""type":"\#(delivery.event)","timestamp":"\#(timestamp(delivery.happenedAt))","data":\#(delivery.payload)"#
    }

    init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// Returns a time in the format of RFC 3339, with milliseconds.
    private static func timestamp(_ epoch: Double) -> String {
        // The database's times have microseconds.
        guard epoch.magnitude < 1e12, let second = Instant(epoch: epoch) else { return "" }
        let rest = (epoch - Double(second.seconds)) * 1e6
        let milliseconds = min(999, Int(rest.rounded()) / 1000)
        return "\(second.description.dropLast()).\(String(1000 + milliseconds).dropFirst())Z"
    }

    /// Returns the header fields with the signatures and the time.
    ///
    /// - Parameter now: The current time in epoch seconds. Receivers refuse a time that is wrong by minutes.
    func fields(signedWith secrets: [WebhookSecret], at now: Int) throws(CryptoError) -> [HTTPField] {
        let signed = Array("\(id).\(now).".utf8) + body
        var signatures: [String] = []
        for secret in secrets {
            let code = try HMACSHA256.authenticate(signed, key: secret.bytes)
            signatures.append("v1,\(Base64.encode(code))")
        }
        return [
            HTTPField("webhook-id", id), HTTPField("webhook-timestamp", "\(now)"),
            HTTPField("webhook-signature", signatures.joined(separator: " ")),
        ]
    }
}
