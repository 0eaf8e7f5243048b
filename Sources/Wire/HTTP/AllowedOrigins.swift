/// Whose pages may use the server from a browser. The server's own always may.
package struct AllowedOrigins: Sendable, Hashable {
    private var listed: Set<HTTPOrigin> = []
    /// Every page there is.
    package private(set) var includesAll = false

    /// The server's own pages alone.
    package init() {}

    /// Adds `https://example.org`, or, with `*`, every origin. `false` when it is neither.
    package mutating func insert(_ text: some StringProtocol) -> Bool {
        if text == "*" {
            includesAll = true
            return true
        }
        guard let origin = HTTPOrigin(text) else { return false }
        listed.insert(origin)
        return true
    }

    /// Whether an answer depends on `Origin`, which caches between have to know (RFC 9110 §12.5.5).
    package var areSeveral: Bool { !includesAll && !listed.isEmpty }

    /// Whether pages of another server's may read what is answered to them (Fetch §3.2, CORS).
    ///
    /// - Returns: The value of `Access-Control-Allow-Origin`; `nil` when the answer is to have none.
    package func sharing(_ head: HTTPRequestHead) -> String? {
        if includesAll { return "*" }
        guard !listed.isEmpty, let text = head.headers.value("Origin"), let origin = HTTPOrigin(text),
            listed.contains(origin)
        else { return nil }
        return origin.text
    }

    /// Whether `head`, which asks for a WebSocket, comes from a page that may have one, or from no page at all: browsers
    /// always say `Origin` here (RFC 6455 §10.2), programs needn't. CORS doesn't guard WebSockets; this does.
    package func admit(_ head: HTTPRequestHead) -> Bool {
        let values = head.headers.values("Origin")
        if values.isEmpty || includesAll { return true }
        guard values.count == 1, let origin = HTTPOrigin(values[0]) else { return false }
        return listed.contains(origin) || head.host.map(origin.isServed) == true
    }
}
