import Basics
import Crypto
import Domain
import FoundationEssentials
import Glibc
import HTTPClient
import Wire

/// Browsers' push services (RFC 8030). Each message is encrypted for one browser (RFC 8291) and signed for the service
/// (RFC 8292).
struct WebPushProvider: DeliveryProvider {
    let name = ProviderName.webPush
    /// The maximum number of messages in flight. One push service may use three quarters of them, because most browsers
    /// use the same service.
    static let mostAtOnce = 128
    let concurrency = Self.mostAtOnce
    let keyStore: VAPIDKeyStore
    private let client: ProviderClient

    /// - Parameters:
    ///   - now: Returns the system's clock in epoch seconds.
    ///   - secret: See ``AddressStore/secret(_:candidate:)``.
    /// - Returns: `nil` if the provider isn't configured.
    init?(
        _ settings: WebPushSettings, now: @escaping @Sendable () -> Int = { time(nil) },
        secret: @escaping @Sendable (String, [UInt8]) async throws -> [UInt8]
    ) {
        guard let contact = settings.contact else { return nil }
        keyStore = VAPIDKeyStore(contact: contact, now: now, secret: secret)
        client = ProviderClient(caFile: settings.caFile, atOnce: concurrency) {
            // Push services respond within moments. A server that doesn't respond must not delay other messages for
            // long.
            $0.connectTimeout = .seconds(5)
            $0.timeout = .seconds(5)
            // Users choose the addresses, so they aren't trusted.
            $0.allowsPrivateAddresses = settings.allowsPrivateAddresses
        }
    }

    func origin(of delivery: Delivery) -> String? {
        ProviderURL(delivery.address)?.origin
    }

    func send(_ delivery: Delivery) async -> AttemptOutcome {
        guard let url = ProviderURL(delivery.address),
            let keys = try? JSONDecoder().decode(WebPushKeys.self, from: Data(delivery.details.utf8))
        else { return .gone("the subscription can't be read") }
        let plaintext = Array(Self.text(of: delivery).utf8)
        guard plaintext.count <= WebPushKeys.maxPlaintextBytes else {
            return .refused("the message is too long for Web Push")
        }
        do {
            let headers = [
                HTTPField("Authorization", try await keyStore.authorization(for: url.origin)),
                // The push service drops the message at the start.
                HTTPField("TTL", "\(Int(saturating: max(0, delivery.timeLeft)))"), HTTPField("Urgency", "high"),
                HTTPField("Topic", Self.topic(delivery)), HTTPField("Content-Encoding", "aes128gcm"),
                HTTPField("Content-Type", "application/octet-stream"),
            ]
            let body = try keys.encrypt(plaintext)
            return Self.outcome(of: try await client.post(delivery.address, headers: headers, body: body))
        } catch let failure as ProviderClient.Failure {
            return failure.outcome
        } catch {
            return .retry(after: nil, "\(error)")
        }
    }

    /// Returns the plaintext of the push message. Only the browser can read it, so it may contain the texts of unread
    /// messages.
    static func text(of delivery: Delivery) -> String {
        guard case .messages(let unread) = delivery.content else { return delivery.payload }
        return unread.jsonWithTexts(maxBytes: WebPushKeys.maxPlaintextBytes)
    }

    func shutdown() async {
        await client.shutdown()
    }

    /// Returns the topic (RFC 8030 §5.4): 22 characters of base64url. A repeated message replaces one with the same
    /// topic that the browser hasn't fetched.
    private static func topic(_ delivery: Delivery) -> String {
        withUnsafeBytes(of: delivery.messageId.uuid) { Base64.encodeForURL($0) }
    }

    /// Returns the outcome of a response (RFC 8030 §5, §7.3, §8.4).
    static func outcome(of response: OutgoingResponse) -> AttemptOutcome {
        let reason = "status \(response.status)"
        return switch response.status {
        case 200..<300: .accepted
        case 404, 410: .gone(reason)
        case 408, 425, 429, 500...: .retry(after: RetryAfter.read(response), reason)
        // The message is too long, or the service doesn't accept this server. The cause may be a subscription that was
        // made with another key.
        default: .refused(reason)
        }
    }
}
