import HTTPClient
import Wire

/// Publishes reminders to an ntfy server, which forwards them to phones: https://docs.ntfy.sh/publish/
struct NtfyProvider: DeliveryProvider {
    let name = ProviderName.ntfy
    let concurrency: Int
    private let server: String
    private let token: String?
    private let publicURL: String?
    private let client: ProviderClient

    /// Returns `nil` if the provider isn't configured.
    init?(_ settings: NtfySettings, publicURL: String?) {
        guard let server = settings.server else { return nil }
        self.server = server
        token = settings.token
        concurrency = settings.concurrency
        self.publicURL = publicURL
        client = ProviderClient(caFile: settings.caFile, atOnce: concurrency) {
            $0.maxConnectionsPerHost = settings.concurrency
            // The operator chose the address, so it may be private.
            $0.allowsPrivateAddresses = true
        }
    }

    func send(_ delivery: Delivery) async -> AttemptOutcome {
        let message: NtfyMessage
        switch delivery.content {
        case .reminder(let reminder, _):
            message = NtfyMessage(reminder, topic: delivery.address, publicURL: publicURL)
        case .partnerChanged(let notice):
            message = NtfyMessage(notice, topic: delivery.address, publicURL: publicURL)
        case .messages(let unread): message = NtfyMessage(unread, topic: delivery.address, publicURL: publicURL)
        case .event: return .refused("not a reminder")
        }
        var headers = [HTTPField.contentTypeJSON]
        if let token { headers.append(HTTPField("Authorization", "Bearer \(token)")) }
        do throws(ProviderClient.Failure) {
            // Posts to the root path. The topic is a secret, so it is in the body and in no log.
            return Self.outcome(of: try await client.post(server + "/", headers: headers, body: message.json))
        } catch {
            return error.outcome
        }
    }

    func shutdown() async {
        await client.shutdown()
    }

    static func outcome(of response: OutgoingResponse) -> AttemptOutcome {
        let reason = "status \(response.status)"
        return switch response.status {
        case 200..<300: .accepted
        // ntfy limits the sender's address, so the limit concerns all deliveries.
        case 429: .paused(for: RetryAfter.read(response) ?? .seconds(5), reason)
        case 401, 403: .paused(for: .seconds(60), "\(reason): the server rejects the token")
        case 500...: .retry(after: RetryAfter.read(response), reason)
        default: .refused(reason)
        }
    }
}
