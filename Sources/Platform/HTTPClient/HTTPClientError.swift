/// The reason why a request has no response. The server may nevertheless have received the request.
package enum HTTPClientError: Error, Sendable, Hashable {
    /// libcurl isn't installed or is too old. The text says which, and what to do.
    case libraryMissing(String)
    /// The URL is invalid, or its scheme is neither http nor https.
    case invalidURL
    /// The host has only private addresses, which aren't permitted.
    case privateAddress
    case cannotResolve(String)
    case cannotConnect(String)
    /// The certificate isn't trusted, or the TLS handshake failed.
    case tls(String)
    case timedOut
    /// More requests than ``HTTPClient/Configuration/maxWaiting`` are waiting.
    case crowded
    /// The task was cancelled, or the client was shut down.
    case cancelled
    /// Any other error.
    case failed(String)
}

extension HTTPClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .libraryMissing(let reason): reason
        case .invalidURL: "the URL can't be used"
        case .privateAddress: "the host has a private address"
        case .cannotResolve(let reason): "the host's name can't be resolved: \(reason)"
        case .cannotConnect(let reason): "can't connect: \(reason)"
        case .tls(let reason): "TLS failed: \(reason)"
        case .timedOut: "no answer in time"
        case .crowded: "too many requests are waiting"
        case .cancelled: "cancelled"
        case .failed(let reason): reason
        }
    }
}
