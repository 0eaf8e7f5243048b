import Basics
import Crypto
import Domain
import FoundationEssentials
import Glibc
import HTTPClient
import Wire

/// Sends Apple's push notifications, over one HTTP/2 connection with many streams to each of Apple's hosts.
struct APNsProvider: DeliveryProvider {
    /// The data stored with a push token.
    private struct Details: Decodable {
        let sandbox: Bool
    }

    private static let production = "https://api.push.apple.com"
    private static let sandbox = "https://api.sandbox.push.apple.com"

    /// Returns the hosts for these settings.
    static func hosts(_ settings: APNsSettings) -> [String] {
        settings.url.map { [$0] } ?? [production, sandbox]
    }

    let name = ProviderName.apns
    /// Apple accepts 1,000 streams per connection. With a round trip of 100 ms, 200 streams send 2,000 notifications
    /// per second.
    let concurrency = 200
    private let topic: String
    /// Replaces both hosts of Apple.
    private let url: String?
    private let tokens: APNsTokenCache
    private let client: ProviderClient

    /// Reads the key file.
    ///
    /// - Parameter now: Returns the system's clock in epoch seconds.
    /// - Returns: `nil` if the provider isn't configured.
    init?(_ settings: APNsSettings, now: @escaping @Sendable () -> Int = { time(nil) }) throws(APNsKeyError) {
        guard let credentials = try APNsCredentials(settings) else { return nil }
        topic = credentials.topic
        url = settings.url
        tokens = APNsTokenCache(credentials, now: now)
        client = ProviderClient(caFile: settings.caFile, atOnce: concurrency) {
            $0.version = .http2
            // With this limit, two or three attempts fit into the time of a delivery.
            $0.timeout = .seconds(10)
            // Only the operator can name another host than Apple's.
            $0.allowsPrivateAddresses = settings.url != nil
        }
    }

    func send(_ delivery: Delivery) async -> AttemptOutcome {
        if case .event = delivery.content { return .refused("not a reminder") }
        let details = try? JSONDecoder().decode(Details.self, from: Data(delivery.details.utf8))
        var attempt = APNsAttempt(isSandbox: details?.sandbox ?? false)
        do {
            while true {
                let token = try await tokens.text()
                let answer = try await post(delivery, attempt, token)
                switch attempt.next(after: answer, registeredAt: delivery.registeredAt) {
                case .done(let outcome): return outcome
                case .again: continue
                case .renewToken(let otherwise):
                    guard await tokens.hasExpired(token) else { return otherwise }
                }
            }
        } catch let failure as ProviderClient.Failure {
            return failure.outcome
        } catch {
            return .paused(for: APNsAttempt.rest, "\(error)")
        }
    }

    func shutdown() async {
        await client.shutdown()
    }

    private func post(
        _ delivery: Delivery, _ attempt: APNsAttempt, _ token: String
    ) async throws(ProviderClient.Failure) -> APNsResponse {
        // The key of notifications that replace each other.
        let group: String
        let body: [UInt8]
        switch delivery.content {
        case .reminder(let reminder, _):
            (group, body) = (reminder.groupId, APNsPayload.json(reminder, maxBytes: attempt.maxPayloadBytes))
        case .partnerChanged(let notice):
            // These notifications don't replace a reminder.
            group = delivery.messageId.text.lowercased()
            body = APNsPayload.json(notice, maxBytes: attempt.maxPayloadBytes)
        case .messages(let unread):
            (group, body) = (delivery.messageId.text.lowercased(), APNsPayload.json(unread))
        // Never reached, because events aren't sent to Apple.
        case .event: (group, body) = ("", [])
        }
        let host = url ?? (attempt.isSandbox ? Self.sandbox : Self.production)
        return APNsResponse(
            try await client.post(
                "\(host)/3/device/\(delivery.address)",
                headers: [
                    HTTPField("authorization", "bearer \(token)"), HTTPField("apns-topic", topic),
                    HTTPField("apns-push-type", "alert"), HTTPField("apns-priority", "10"),
                    // Apple drops the notification at this time, because it is useless after the start.
                    HTTPField("apns-expiration", "\(Int(saturating: delivery.deadline))"),
                    HTTPField("apns-id", delivery.messageId.text.lowercased()),
                    HTTPField("apns-collapse-id", group), .contentTypeJSON,
                ],
                body: body))
    }
}
