/// The origins of pages that may use the server from a browser. The server's own pages always may.
package struct AllowedOrigins: Sendable, Hashable {
    /// The allowed origins. The first label of an origin's host may be an asterisk.
    private var listed: Set<HTTPOrigin> = []
    /// Whether every origin is allowed.
    package private(set) var includesAll = false

    /// Allows only the server's own pages.
    package init() {}

    /// Adds an origin. `https://example.org` is one origin, `https://*.example.org` stands for all origins with one
    /// more label, and `*` for every origin. Returns `false` for any other text.
    package mutating func insert(_ text: some StringProtocol) -> Bool {
        if text == "*" {
            includesAll = true
            return true
        }
        guard let origin = HTTPOrigin(text), !origin.hasAsterisk || origin.isWildcard else { return false }
        listed.insert(origin)
        return true
    }

    /// Whether a response depends on the field `Origin`. Caches must know this (RFC 9110 §12.5.5).
    package var areSeveral: Bool { !includesAll && !listed.isEmpty }

    /// Decides whether pages of other origins may read the response (Fetch §3.2, CORS).
    ///
    /// - Returns: The value of `Access-Control-Allow-Origin`, or `nil` if the response must not have the field.
    package func sharing(_ head: HTTPRequestHead) -> String? {
        includesAll || listed.isEmpty ? sharing(origin: nil) : sharing(origin: head.headers.value("Origin"))
    }

    /// Returns the value of `Access-Control-Allow-Origin` for an `Origin` field, or `nil` if the request has none.
    package func sharing(origin text: String?) -> String? {
        if includesAll { return "*" }
        guard let text, let origin = HTTPOrigin(text), isListed(origin) else { return nil }
        return origin.text
    }

    /// Whether a request may open a WebSocket or change something: it comes from an allowed page, or not from a page.
    /// Browsers always send `Origin` with such requests (RFC 6455 §10.2, Fetch §3.1), but other programs needn't. This
    /// check is necessary because CORS protects neither WebSockets nor forms. Without an `Origin` it allocates nothing.
    package func admit(_ head: HTTPRequestHead) -> Bool {
        if includesAll { return true }
        guard head.headers.contains("Origin") else {
            return !head.headers.contains("Sec-Fetch-Site") || Self.page(of: head, is: "same-origin")
                || Self.page(of: head, is: "none")
        }
        let values = head.headers.values("Origin")
        // A page that hides its origin (`Referrer-Policy: no-referrer`) may nevertheless be the server's own page.
        if values == ["null"] { return Self.page(of: head, is: "same-origin") }
        guard values.count == 1, let origin = HTTPOrigin(values[0]) else { return false }
        return isListed(origin) || head.host.map(origin.isServed) == true
    }

    private func isListed(_ origin: HTTPOrigin) -> Bool {
        !listed.isEmpty && (listed.contains(origin) || origin.wildcard.map(listed.contains) == true)
    }

    /// Whether the browser reports this relation between the page and the server (Fetch Metadata §2.3).
    private static func page(of head: HTTPRequestHead, is relation: StaticString) -> Bool {
        head.headers.withOnlyValue("Sec-Fetch-Site") { $0.equalsIgnoringCase(relation) } ?? false
    }
}
