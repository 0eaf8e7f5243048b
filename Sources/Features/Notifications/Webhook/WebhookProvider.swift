import FoundationEssentials
import Glibc
import HTTPClient
import Wire

/// Posts signed events to one URL, one at a time or several together.
struct WebhookProvider: DeliveryProvider {
    let name = ProviderName.webhook
    let concurrency: Int
    let batchLimit: Int
    private let url: String
    private let secrets: [WebhookSecret]
    private let client: ProviderClient

    /// Returns `nil` if the provider isn't configured.
    init?(_ settings: WebhookSettings) {
        guard let url = settings.url else { return nil }
        self.url = url
        secrets = settings.secrets
        concurrency = settings.concurrency
        batchLimit = settings.batch
        client = ProviderClient(caFile: settings.caFile, atOnce: concurrency) {
            $0.maxConnectionsPerHost = settings.concurrency
            // The operator chose the address, and the receiver often runs on the same machine.
            $0.allowsPrivateAddresses = true
        }
    }

    func send(_ delivery: Delivery) async -> AttemptOutcome {
        await send(WebhookMessage(delivery))
    }

    func send(together deliveries: [Delivery]) async -> AttemptOutcome {
        await send(WebhookMessage(together: deliveries, id: UUID()))
    }

    private func send(_ message: WebhookMessage) async -> AttemptOutcome {
        do {
            let fields = try message.fields(signedWith: secrets, at: Int(time(nil)))
            return Self.outcome(
                of: try await client.post(url, headers: [.contentTypeJSON] + fields, body: message.body))
        } catch let failure as ProviderClient.Failure {
            return failure.outcome
        } catch {
            return .retry(after: nil, "\(error)")
        }
    }

    func shutdown() async {
        await client.shutdown()
    }

    /// Returns the outcome as Standard Webhooks defines it. 2xx is success, and all other responses are failures,
    /// including redirects. 410 means that the receiver wants no more messages.
    static func outcome(of response: OutgoingResponse) -> AttemptOutcome {
        switch response.status {
        case 200..<300: .accepted
        case 410: .gone("status 410")
        case 429, 503: .retry(after: RetryAfter.read(response), "status \(response.status)")
        default: .retry(after: nil, "status \(response.status)")
        }
    }
}
