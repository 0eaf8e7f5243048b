import Wire

/// Encodes one answer: the head, what the connection itself adds to it, and content that is there already.
struct ResponseWriter {
    private(set) var bytes: [UInt8] = []

    init(_ response: Response, date: String) {
        bytes.reserveCapacity(512)
        HTTPResponseEncoder.statusLine(response.status, into: &bytes)
        HTTPResponseEncoder.field("Date", date, into: &bytes)
        for field in response.headers { HTTPResponseEncoder.field(named: field.name, field.value, into: &bytes) }
    }

    mutating func field(_ name: StaticString, _ value: String) {
        HTTPResponseEncoder.field(name, value, into: &bytes)
    }

    mutating func contentLength(_ length: Int) {
        HTTPResponseEncoder.field("Content-Length", length, into: &bytes)
    }

    /// Ends the head, and appends the content.
    mutating func finish(content: [UInt8] = []) {
        HTTPResponseEncoder.endOfHead(into: &bytes)
        bytes.append(contentsOf: content)
    }
}
