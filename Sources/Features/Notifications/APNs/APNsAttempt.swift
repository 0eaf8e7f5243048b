import FoundationEssentials
import HTTPClient

/// Decides what to do after Apple's responses to one notification. A value type.
struct APNsAttempt: Sendable, Hashable {
    /// The next step.
    enum Step: Sendable, Hashable {
        case done(AttemptOutcome)
        /// Send the changed notification again, without a pause.
        case again
        /// Send again with a new provider token. If a new token isn't possible, use this outcome.
        case renewToken(otherwise: AttemptOutcome)
    }

    /// The pause of the whole provider after an error that concerns all notifications.
    static let rest = Duration.seconds(300)
    /// The pause after Apple received too many provider tokens on a connection.
    static let connectionRest = Duration.seconds(10)
    /// The pause after Apple received too many notifications for a device.
    static let deviceRest = Duration.seconds(5)

    private(set) var isSandbox: Bool
    /// The maximum size of the payload in bytes.
    private(set) var maxPayloadBytes = APNsPayload.maxBytes
    private var hasChangedHost = false
    private var hasRenewedToken = false

    init(isSandbox: Bool) {
        self.isSandbox = isSandbox
    }

    /// Returns the step after a response (Apple: "Handling notification responses from APNs").
    ///
    /// - Parameter registeredAt: The time at which the device registered its token, in epoch seconds.
    mutating func next(after answer: APNsResponse, registeredAt: Double) -> Step {
        let reason = "\(answer)"
        switch (answer.status, answer.reason) {
        case (200, _):
            return .done(.accepted)
        case (400, "BadDeviceToken"):
            // The token may belong to the other environment. Apps under development report the environment wrongly.
            guard !hasChangedHost else { return .done(.gone(reason)) }
            hasChangedHost = true
            isSandbox.toggle()
            return .again
        case (403, "BadEnvironmentKeyIdInToken"):
            // The provider's key isn't valid in this environment. The provider doesn't pause, because anyone may
            // register a token of the other environment. After a change of the host, the token's own environment
            // doesn't know it either, so it is invalid.
            return .done(hasChangedHost ? .gone(reason) : .refused(reason))
        case (400, "IdleTimeout"):
            return .done(.retry(after: answer.retryAfter, reason))
        case (403, "ExpiredProviderToken") where !hasRenewedToken:
            hasRenewedToken = true
            return .renewToken(otherwise: .paused(for: Self.rest, "\(reason): check this machine's clock"))
        case (403, _):
            return .done(.paused(for: Self.rest, reason))
        case (410, _):
            // The device has registered after this time, so the app was installed again.
            if let timestamp = answer.timestamp, registeredAt * 1000 > timestamp {
                return .done(.retry(after: answer.retryAfter, reason))
            }
            return .done(.gone(reason))
        case (413, _) where maxPayloadBytes == APNsPayload.maxBytes:
            maxPayloadBytes = APNsPayload.shortBytes
            return .again
        case (429, "TooManyProviderTokenUpdates"):
            return .done(.paused(for: answer.retryAfter ?? Self.connectionRest, reason))
        case (429, _):
            return .done(.retry(after: answer.retryAfter ?? Self.deviceRest, reason))
        case (500..., _):
            return .done(.retry(after: answer.retryAfter, reason))
        default:
            // An error of this server, such as a topic, a path or a field that Apple refuses.
            return .done(.refused(reason))
        }
    }
}

/// Apple's response to one notification.
struct APNsResponse: Sendable, Hashable {
    let status: Int
    /// Apple's reason, such as `BadDeviceToken`. Empty if there is none.
    let reason: String
    /// The time since which the token is invalid, in epoch milliseconds. Only with `410`.
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
