import HTTPClient
import Wire

/// How a provider posts to its servers.
struct ProviderClient: Sendable {
    /// There is no answer.
    struct Failure: Error {
        /// Of the attempt.
        let outcome: AttemptOutcome
    }

    private let client: HTTPClient

    /// - Parameters:
    ///   - caFile: Whom to trust instead of the system's authorities: a file in PEM.
    ///   - atOnce: How many requests may be on their way.
    ///   - adjust: What else is the provider's own.
    init(caFile: String?, atOnce: Int, _ adjust: (inout HTTPClient.Configuration) -> Void) {
        var configuration = HTTPClient.Configuration(agent: ProviderSettings.agent)
        configuration.caFile = caFile
        configuration.maxInFlight = atOnce
        adjust(&configuration)
        client = HTTPClient(configuration)
    }

    func post(_ url: String, headers: [HTTPField], body: [UInt8]) async throws(Failure) -> OutgoingResponse {
        do throws(HTTPClientError) {
            return try await client.send(OutgoingRequest(.post, url, headers: headers, body: body))
        } catch {
            throw Failure(outcome: AttemptOutcome(error))
        }
    }

    func shutdown() async {
        await client.shutdown()
    }
}

extension AttemptOutcome {
    /// The one that an error of the way there means.
    init(_ error: HTTPClientError) {
        switch error {
        case .invalidURL, .privateAddress: self = .refused("\(error)")
        case .libraryMissing: self = .paused(for: .seconds(60), "\(error)")
        default: self = .retry(after: nil, "\(error)")
        }
    }
}
