import FoundationEssentials
import HTTPClient

/// What Apple has said to one notification.
struct APNsAnswer: Sendable, Hashable {
    let status: Int
    /// Such as `BadDeviceToken`; empty when none was given.
    let reason: String
    /// Of `410`: since when the token is no more, as Apple knows. Epoch milliseconds.
    let timestamp: Double?
    let retryAfter: Duration?

    init(status: Int, reason: String = "", timestamp: Double? = nil, retryAfter: Duration? = nil) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }

    init(_ response: OutgoingResponse) {
        struct Body: Decodable {
            let reason: String?
            let timestamp: Double?
        }
        let body = response.status == 200 ? nil : try? JSONDecoder().decode(Body.self, from: Data(response.body))
        self.init(
            status: response.status, reason: String((body?.reason ?? "").prefix(64)), timestamp: body?.timestamp,
            retryAfter: RetryAfter.read(response))
    }
}

extension APNsAnswer: CustomStringConvertible {
    var description: String { reason.isEmpty ? "status \(status)" : "status \(status) \(reason)" }
}
