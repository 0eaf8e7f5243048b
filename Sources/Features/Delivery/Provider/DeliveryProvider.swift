import HTTPClient

/// A way to people: sends one thing at a time when it is asked, and knows nothing of databases, retries and other providers.
protocol DeliveryProvider: Sendable {
    var name: ProviderName { get }
    /// How many of its deliveries may be on their way at once.
    var concurrency: Int { get }
    /// How many of its deliveries go together at most.
    var batchLimit: Int { get }

    /// The server that it goes to, where anybody may name it; `nil` where it is a setting.
    func origin(of delivery: Delivery) -> String?

    /// Sends it, within half a minute, and says what became of it. Many at once, any thread. Ends early with `retry` when the
    /// task is cancelled.
    func send(_ delivery: Delivery) async -> AttemptOutcome

    /// The same for several, of which there are ``batchLimit`` at most: what becomes of one becomes of all.
    func send(together deliveries: [Delivery]) async -> AttemptOutcome

    /// Lets go of what it holds; nothing is sent any more.
    func shutdown() async
}

extension DeliveryProvider {
    var batchLimit: Int { 1 }

    func origin(of delivery: Delivery) -> String? { nil }

    func send(together deliveries: [Delivery]) async -> AttemptOutcome {
        // Nobody asks for more than one.
        guard let delivery = deliveries.first else { return .accepted }
        return await send(delivery)
    }
}

/// The ways in which a reminder leaves the daemon beside its event streams; as they are called in the database and in metrics.
package enum ProviderName: String, Sendable, Hashable, CaseIterable {
    /// Apple's push notifications, for the tokens of `POST /token`.
    case apns
    /// Browsers' push services (RFC 8030).
    case webPush = "webpush"
    /// An ntfy server's topics.
    case ntfy
    /// One URL, which is told of everything.
    case webhook
}

/// What became of an attempt at a ``Delivery``. Texts are for the log: they name no address and no secret.
enum AttemptOutcome: Sendable, Hashable {
    /// Somebody else is responsible for it now.
    case accepted
    /// The address is no more: it is forgotten. For a provider that has one address only, the provider rests until the daemon starts
    /// anew.
    case gone(String)
    /// Perhaps later: after `after` at least, if the server has said so.
    case retry(after: Duration?, String)
    /// This one never, however often it is tried.
    case refused(String)
    /// The fault is the whole provider's: it rests for so long, and then tries this one again.
    case paused(for: Duration, String)
}

/// `Retry-After` in seconds (RFC 9110 §10.2.3). A date, which few send, counts as none: our clock and theirs may differ.
enum RetryAfter {
    static func read(_ response: OutgoingResponse) -> Duration? {
        guard let text = response.header("Retry-After"), let seconds = Int(text), (0...86_400).contains(seconds) else {
            return nil
        }
        return .seconds(seconds)
    }
}
