import FoundationEssentials
import HTTPClient

/// How one notification is sent, and what follows from Apple's answer to it. A value: decides, and does nothing.
struct APNsAttempt: Sendable, Hashable {
    /// What comes next.
    enum Step: Sendable, Hashable {
        case done(AttemptOutcome)
        /// Once more at once, as the attempt now says.
        case again
        /// Once more with another provider's token; if there is none, it is done so.
        case renewToken(otherwise: AttemptOutcome)
    }

    /// The whole provider's fault is looked at again after that.
    static let rest = Duration.seconds(300)
    /// Of a connection on which too many provider's tokens came.
    static let connectionRest = Duration.seconds(10)
    /// Of a device that got too much.
    static let deviceRest = Duration.seconds(5)

    private(set) var isSandbox: Bool
    /// Bytes of the payload.
    private(set) var maxPayloadBytes = APNsPayload.maxBytes
    private var hasChangedHost = false
    private var hasRenewedToken = false

    init(isSandbox: Bool) {
        self.isSandbox = isSandbox
    }

    /// Apple: "Handling notification responses from APNs".
    ///
    /// - Parameter registeredAt: When the device gave us its token. Epoch seconds.
    mutating func next(after answer: APNsResponse, registeredAt: Double) -> Step {
        let words = "\(answer)"
        switch (answer.status, answer.reason) {
        case (200, _):
            return .done(.accepted)
        case (400, "BadDeviceToken"):
            // One of the other environment, perhaps: apps that are being developed say so wrongly.
            guard !hasChangedHost else { return .done(.gone(words)) }
            hasChangedHost = true
            isSandbox.toggle()
            return .again
        case (403, "BadEnvironmentKeyIdInToken"):
            // The key is of the other environment alone. Anybody may register a token that leads here, so nobody else rests for it;
            // one that its own environment didn't know is none.
            return .done(hasChangedHost ? .gone(words) : .refused(words))
        case (400, "IdleTimeout"):
            return .done(.retry(after: answer.retryAfter, words))
        case (403, "ExpiredProviderToken") where !hasRenewedToken:
            hasRenewedToken = true
            return .renewToken(otherwise: .paused(for: Self.rest, "\(words): check this machine's clock"))
        case (403, _):
            return .done(.paused(for: Self.rest, words))
        case (410, _):
            // The app was installed again since, and has said so.
            if let timestamp = answer.timestamp, registeredAt * 1000 > timestamp {
                return .done(.retry(after: answer.retryAfter, words))
            }
            return .done(.gone(words))
        case (413, _) where maxPayloadBytes == APNsPayload.maxBytes:
            maxPayloadBytes = APNsPayload.shortBytes
            return .again
        case (429, "TooManyProviderTokenUpdates"):
            return .done(.paused(for: answer.retryAfter ?? Self.connectionRest, words))
        case (429, _):
            return .done(.retry(after: answer.retryAfter ?? Self.deviceRest, words))
        case (500..., _):
            return .done(.retry(after: answer.retryAfter, words))
        default:
            // Ours: a topic, a path, a field that Apple doesn't take.
            return .done(.refused(words))
        }
    }
}

/// What Apple has said to one notification.
struct APNsResponse: Sendable, Hashable {
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

extension APNsResponse: CustomStringConvertible {
    var description: String { reason.isEmpty ? "status \(status)" : "status \(status) \(reason)" }
}
