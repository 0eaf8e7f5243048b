import HTTPClient

/// `Retry-After` in seconds (RFC 9110 §10.2.3). A date, which few send, counts as none: our clock and theirs may differ.
enum RetryAfter {
    static func read(_ response: OutgoingResponse) -> Duration? {
        guard let text = response.header("Retry-After"), let seconds = Int(text), (0...86_400).contains(seconds) else {
            return nil
        }
        return .seconds(seconds)
    }
}
