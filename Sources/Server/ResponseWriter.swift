import Wire

/// Encodes one answer: the head, what the connection itself adds to it, and content that is there already.
struct ResponseWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter dateField: ``ServerLoop/dateField``.
    init(_ response: Response, dateField: [UInt8]) {
        bytes.reserveCapacity(512)
        HTTPResponseEncoder.statusLine(response.status, into: &bytes)
        bytes.append(contentsOf: dateField)
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
