import Wire

/// The parser's result for some bytes, in a form that can be compared.
struct HTTPTranscript: Equatable {
    struct Request: Equatable {
        var head: String
        var body: [UInt8] = []
        var isWhole = false
    }

    var requests: [Request] = []
    var error: HTTPParseError?
    /// The heads of the requests. They aren't compared.
    var heads: [HTTPRequestHead] = []
    var isIdle = true

    static func == (one: HTTPTranscript, other: HTTPTranscript) -> Bool {
        one.requests == other.requests && one.error == other.error && one.isIdle == other.isIdle
    }

    init(_ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits()) {
        var parser = HTTPRequestParser(limits: limits)
        for piece in pieces where error == nil {
            withExactMemory(piece) { memory in
                var input = UnsafeRawBufferPointer(memory)
                do throws(HTTPParseError) {
                    while let event = try parser.next(&input) { take(event) }
                } catch {
                    self.error = error
                }
            }
        }
        isIdle = parser.position == .betweenRequests
    }

    init(_ text: String, limits: HTTPLimits = HTTPLimits()) {
        self.init([Array(text.utf8)], limits: limits)
    }

    private mutating func take(_ event: HTTPRequestEvent) {
        switch event {
        case .head(let head):
            let fields = head.headers.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
            requests.append(
                Request(
                    head: """
                        \(head.method.name) \(head.target) \(head.version) \(head.targetForm) \(head.bodyFraming) \
                        \(head.isKeepAlive) \(head.expectsContinue) \(head.host ?? "-") \(fields)
                        """))
            heads.append(head)
        case .body(let bytes):
            requests[requests.count - 1].body += Array(bytes)
        case .end:
            requests[requests.count - 1].isWhole = true
        }
    }
}

/// Returns the head of a request with this request line and a Host.
func head(_ requestLine: String, _ fields: String...) -> HTTPRequestHead? {
    let lines = [requestLine, "Host: example.org"] + fields
    return HTTPTranscript(lines.joined(separator: "\r\n") + "\r\n\r\n").heads.first
}
