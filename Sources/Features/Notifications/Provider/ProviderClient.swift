import HTTPClient
import Wire

/// An HTTP client for a provider's servers.
struct ProviderClient: Sendable {
    /// The error of a request without a response.
    struct Failure: Error {
        /// The outcome of the attempt.
        let outcome: AttemptOutcome
    }

    private let client: HTTPClient

    /// - Parameters:
    ///   - caFile: A PEM file of trusted authorities, instead of the system's.
    ///   - atOnce: The maximum number of requests in flight.
    ///   - adjust: Changes further settings.
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
    /// The outcome of a failed request.
    init(_ error: HTTPClientError) {
        switch error {
        case .invalidURL, .privateAddress: self = .refused("\(error)")
        case .libraryMissing: self = .paused(for: .seconds(60), "\(error)")
        default: self = .retry(after: nil, "\(error)")
        }
    }
}
