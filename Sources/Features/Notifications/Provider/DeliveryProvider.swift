import HTTPClient

/// Sends deliveries to people in one way. It knows nothing of databases, retries and other providers.
protocol DeliveryProvider: Sendable {
    var name: ProviderName { get }
    /// The maximum number of deliveries in flight.
    var concurrency: Int { get }
    /// The maximum number of deliveries in one request.
    var batchLimit: Int { get }

    /// The server of a delivery if users choose it; `nil` if it is a setting.
    func origin(of delivery: Delivery) -> String?

    /// Sends a delivery within half a minute and returns the outcome. Called concurrently, on any thread. Ends early
    /// with `retry` if the task is cancelled.
    func send(_ delivery: Delivery) async -> AttemptOutcome

    /// Sends several deliveries, at most ``batchLimit``, with one outcome for all.
    func send(together deliveries: [Delivery]) async -> AttemptOutcome

    /// Releases its resources. Nothing is sent any more.
    func shutdown() async
}

extension DeliveryProvider {
    var batchLimit: Int { 1 }

    func origin(of delivery: Delivery) -> String? { nil }

    func send(together deliveries: [Delivery]) async -> AttemptOutcome {
        // Called with one delivery only.
        guard let delivery = deliveries.first else { return .accepted }
        return await send(delivery)
    }
}

/// The providers besides event streams, with their names in the database and in metrics.
package enum ProviderName: String, Sendable, Hashable, CaseIterable {
    /// Apple's push notifications, for tokens of `POST /token`.
    case apns
    /// Browsers' push services (RFC 8030).
    case webPush = "webpush"
    /// Topics of an ntfy server.
    case ntfy
    /// One URL that receives all events.
    case webhook
}

/// The outcome of an attempt at a ``Delivery``. Texts are for the log and contain no address and no secret.
enum AttemptOutcome: Sendable, Hashable {
    /// The next server has accepted it.
    case accepted
    /// The address no longer exists and is removed. A provider with one address pauses until the daemon restarts.
    case gone(String)
    /// May succeed later, at least `after` from now if the server said so.
    case retry(after: Duration?, String)
    /// This delivery will always fail.
    case refused(String)
    /// An error of the whole provider. It pauses for this time, and tries this delivery again.
    case paused(for: Duration, String)
}

/// `Retry-After` in seconds (RFC 9110 §10.2.3). A date is ignored, because clocks may differ.
enum RetryAfter {
    static func read(_ response: OutgoingResponse) -> Duration? {
        guard let text = response.header("Retry-After"), let seconds = Int(text), (0...86_400).contains(seconds) else {
            return nil
        }
        return .seconds(seconds)
    }
}
