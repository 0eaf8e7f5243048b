package import HTTPClient

/// What became of an attempt at a ``Delivery``. Texts are for the log: they name no address and no secret.
package enum DeliveryOutcome: Sendable, Hashable {
    /// Somebody else is responsible for it now.
    case accepted
    /// The address is no more: it is forgotten. For a channel that has one address only, the channel rests until the daemon starts
    /// anew.
    case gone(String)
    /// Perhaps later: after `after` at least, if the server has said so.
    case retry(after: Duration?, String)
    /// This one never, however often it is tried.
    case refused(String)
    /// The fault is the whole channel's: it rests for so long, and then tries this one again.
    case paused(for: Duration, String)
}

extension DeliveryOutcome {
    /// The one that an error of the way there means.
    package init(_ error: HTTPClientError) {
        switch error {
        case .invalidURL, .privateAddress: self = .refused("\(error)")
        case .libraryMissing: self = .paused(for: .seconds(60), "\(error)")
        default: self = .retry(after: nil, "\(error)")
        }
    }
}
