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
        includesAll || listed.isEmpty ? sharing(origin: nil) : sharing(origin: head.headers.value("Origin"))
    }

    /// The same for the value of an `Origin` field; `nil` if the request has none.
    package func sharing(origin text: String?) -> String? {
        if includesAll { return "*" }
        guard let text, let origin = HTTPOrigin(text), listed.contains(origin) else { return nil }
        return origin.text
    }

    /// Whether `head`, which asks for a WebSocket or changes something, comes from a page that may, or from no page at all:
    /// browsers always say `Origin` with both (RFC 6455 §10.2, Fetch §3.1), programs needn't. CORS guards neither
    /// WebSockets nor what a form can send; this does. Without an `Origin` it allocates nothing.
    package func admit(_ head: HTTPRequestHead) -> Bool {
        if includesAll { return true }
        guard head.headers.contains("Origin") else {
            return !head.headers.contains("Sec-Fetch-Site") || Self.page(of: head, is: "same-origin")
                || Self.page(of: head, is: "none")
        }
        let values = head.headers.values("Origin")
        // A page that tells nobody who it is (`Referrer-Policy: no-referrer`) may be ours nevertheless.
        if values == ["null"] { return Self.page(of: head, is: "same-origin") }
        guard values.count == 1, let origin = HTTPOrigin(values[0]) else { return false }
        return listed.contains(origin) || head.host.map(origin.isServed) == true
    }

    /// Whether a browser says that the request's page stands in this relation to the server (Fetch Metadata §2.3).
    private static func page(of head: HTTPRequestHead, is relation: StaticString) -> Bool {
        head.headers.withOnlyValue("Sec-Fetch-Site") { $0.equalsIgnoringCase(relation) } ?? false
    }
}
