import FoundationEssentials
import Glibc
import HTTPClient
import Wire

/// Posts every event to one URL, signed: one at a time, or several that wait together.
struct WebhookProvider: DeliveryProvider {
    let name = ProviderName.webhook
    let concurrency: Int
    let batchLimit: Int
    private let url: String
    private let secrets: [WebhookSecret]
    private let client: HTTPClient

    /// nil when none is configured.
    init?(_ settings: WebhookSettings) {
        guard let url = settings.url else { return nil }
        self.url = url
        secrets = settings.secrets
        concurrency = settings.concurrency
        batchLimit = settings.batch
        var configuration = HTTPClient.Configuration(agent: ProviderSettings.agent)
        configuration.caFile = settings.caFile
        configuration.maxInFlight = concurrency
        configuration.maxConnectionsPerHost = concurrency
        // The operator has named the address; many keep the receiver beside the daemon.
        configuration.allowsPrivateAddresses = true
        client = HTTPClient(configuration)
    }

    func send(_ delivery: Delivery) async -> AttemptOutcome {
        await send(WebhookMessage(delivery))
    }

    func send(together deliveries: [Delivery]) async -> AttemptOutcome {
        await send(WebhookMessage(together: deliveries, id: UUID()))
    }

    private func send(_ message: WebhookMessage) async -> AttemptOutcome {
        do throws(HTTPClientError) {
            return Self.outcome(of: try await client.send(request(message)))
        } catch {
            return AttemptOutcome(error)
        }
    }

    private func request(_ message: WebhookMessage) throws(HTTPClientError) -> OutgoingRequest {
        do {
            let fields = try message.fields(signedWith: secrets, at: Int(time(nil)))
            return OutgoingRequest(
                .post, url, headers: [HTTPField("Content-Type", "application/json")] + fields, body: message.body)
        } catch {
            throw .failed("\(error)")
        }
    }

    func shutdown() async {
        await client.shutdown()
    }

    /// Standard Webhooks: 2xx is success, all else failure, a redirect too; 410 says never again.
    static func outcome(of response: OutgoingResponse) -> AttemptOutcome {
        switch response.status {
        case 200..<300: .accepted
        case 410: .gone("status 410")
        case 429, 503: .retry(after: RetryAfter.read(response), "status \(response.status)")
        default: .retry(after: nil, "status \(response.status)")
        }
    }
}
