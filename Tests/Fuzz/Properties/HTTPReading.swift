import Wire

/// The parser's result for the bytes of a connection, with the offsets of its parts, in a form that can be compared.
struct HTTPReading: Equatable {
    struct Request: Equatable {
        var head: String
        /// Offsets in the stream: of the first byte after the head, and after the request.
        var headEnd: Int
        var end: Int?
        var body: [UInt8] = []
    }

    var requests: [Request] = []
    var error: HTTPParseError?
    private(set) var isIdle = true
    private(set) var heads: [HTTPRequestHead] = []

    /// The heads are compared as text, in the requests.
    static func == (one: HTTPReading, other: HTTPReading) -> Bool {
        one.requests == other.requests && one.error == other.error && one.isIdle == other.isIdle
    }

    init(_ pieces: [[UInt8]], limits: HTTPLimits) {
        var parser = HTTPRequestParser(limits: limits)
        var offset = 0
        for piece in pieces where error == nil {
            withExactMemory(piece) { memory in
                var input = UnsafeRawBufferPointer(memory)
                do throws(HTTPParseError) {
                    while let event = try parser.next(&input) { take(event, offset + piece.count - input.count) }
                } catch {
                    self.error = error
                }
            }
            offset += piece.count
        }
        isIdle = parser.position == .betweenRequests
    }

    private mutating func take(_ event: HTTPRequestEvent, _ offset: Int) {
        switch event {
        case .head(let head):
            requests.append(Request(head: Self.describe(head), headEnd: offset))
            heads.append(head)
        case .body(let bytes):
            requests[requests.count - 1].body += Array(bytes)
        case .end:
            requests[requests.count - 1].end = offset
        }
    }

    static func describe(_ head: HTTPRequestHead) -> String {
        let fields = head.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "\n")
        return """
            \(head.method.name) \(head.target) \(head.version) \(head.targetForm) \(head.bodyFraming) \
            \(head.isKeepAlive) \(head.expectsContinue) \(head.host ?? "-") \(fields)
            """
    }
}
