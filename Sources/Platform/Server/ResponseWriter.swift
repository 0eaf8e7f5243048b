import Wire

/// Encodes one response: the head, the connection's own fields, and complete content.
struct ResponseWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter isSecure: Whether the response is sent through TLS.
    init(_ response: Response, on server: ServerShard, isSecure: Bool) {
        bytes.reserveCapacity(512)
        HTTPResponseEncoder.statusLine(response.status, into: &bytes)
        bytes.append(contentsOf: server.dateField)
        if isSecure { bytes.append(contentsOf: server.transportSecurityField) }
        var knowsCaches = false
        for field in response.headers {
            HTTPResponseEncoder.field(named: field.name, field.value, into: &bytes)
            if field.name == "Cache-Control" { knowsCaches = true }
        }
        // By default, a response is for one client at one moment, so caches must not store it. A further field tells
        // browsers to use `Content-Type` and not to guess the type (Fetch §3.6).
        if !knowsCaches { HTTPResponseEncoder.fields("Cache-Control: no-store\r\n", into: &bytes) }
        HTTPResponseEncoder.fields("X-Content-Type-Options: nosniff\r\n", into: &bytes)
    }

    mutating func field(_ name: StaticString, _ value: String) {
        HTTPResponseEncoder.field(name, value, into: &bytes)
    }

    mutating func contentLength(_ length: Int) {
        HTTPResponseEncoder.field("Content-Length", length, into: &bytes)
    }

    /// Ends the head and appends the content.
    mutating func finish(content: [UInt8] = []) {
        HTTPResponseEncoder.endOfHead(into: &bytes)
        bytes.append(contentsOf: content)
    }
}
