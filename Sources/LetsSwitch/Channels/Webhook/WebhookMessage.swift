package import Crypto
import FoundationEssentials
package import Wire

/// A delivery as Standard Webhooks has it: body and signed fields. The body is the same on every try, the timestamp isn't.
///
/// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
package struct WebhookMessage: Sendable, Hashable {
    package let id: String
    package let body: [UInt8]

    package init(_ delivery: Delivery) {
        id = delivery.messageId.uuidString
        let happenedAt = Instant(epoch: delivery.createdAt)?.description ?? ""
        body = Array(
            #"{"type":"\#(delivery.event)","timestamp":"\#(happenedAt)","data":\#(delivery.payload)}"#.utf8)
    }

    package init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// The fields that say who has sent it, and when.
    ///
    /// - Parameter now: Seconds since 1970. A receiver refuses what is minutes off.
    package func fields(signedWith secrets: [WebhookSecret], at now: Int) throws(CryptoError) -> [HTTPField] {
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
