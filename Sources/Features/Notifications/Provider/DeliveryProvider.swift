import HTTPClient

/// Sends deliveries through one push service, server or webhook. It knows nothing of databases, retries and other
/// providers.
protocol DeliveryProvider: Sendable {
    var name: ProviderName { get }
    /// The maximum number of deliveries in flight.
    var concurrency: Int { get }
    /// The maximum number of deliveries in one request.
    var batchLimit: Int { get }

    /// Returns the server of a delivery if users choose the server. Returns `nil` if the server is a setting.
    func origin(of delivery: Delivery) -> String?

    /// Sends a delivery within half a minute and returns the outcome. Called concurrently, on any thread. If the task
    /// is cancelled, it returns `retry` early.
    func send(_ delivery: Delivery) async -> AttemptOutcome

    /// Sends several deliveries, at most ``batchLimit``, with one outcome for all.
    func send(together deliveries: [Delivery]) async -> AttemptOutcome

    /// Releases the provider's resources. No deliveries are sent after this call.
    func shutdown() async
}

extension DeliveryProvider {
    var batchLimit: Int { 1 }

    func origin(of delivery: Delivery) -> String? { nil }

    func send(together deliveries: [Delivery]) async -> AttemptOutcome {
        // There is only one delivery, because the default limit is one.
        guard let delivery = deliveries.first else { return .accepted }
        return await send(delivery)
    }
}

/// The providers, with their names in the database and in metrics. Event streams aren't providers.
package enum ProviderName: String, Sendable, Hashable, CaseIterable {
    /// Apple's push notifications, for tokens registered with `POST /token`.
    case apns
    /// Browsers' push services (RFC 8030).
    case webPush = "webpush"
    /// Topics of an ntfy server.
    case ntfy
    /// One URL that receives all events.
    case webhook
}

/// The outcome of an attempt to send a ``Delivery``. The texts are for the log, and contain no address and no secret.
enum AttemptOutcome: Sendable, Hashable {
    /// The provider's server has accepted the delivery.
    case accepted
    /// The address no longer exists and is removed. A provider with a single address, the webhook, stops until the
    /// daemon restarts.
    case gone(String)
    /// A later attempt may succeed. The server may ask to wait at least `after`.
    case retry(after: Duration?, String)
    /// Every attempt to send this delivery would fail.
    case refused(String)
    /// An error of the whole provider. The provider pauses for this time, and then tries the delivery again.
    case paused(for: Duration, String)
}

/// Reads `Retry-After` in seconds (RFC 9110 §10.2.3). A date is ignored, because clocks may differ.
enum RetryAfter {
    static func read(_ response: OutgoingResponse) -> Duration? {
        guard let text = response.header("Retry-After"), let seconds = Int(text), (0...86_400).contains(seconds) else {
            return nil
        }
        return .seconds(seconds)
    }
}
