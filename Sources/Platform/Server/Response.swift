package import Wire

/// An answer: status, fields, and content that is there already or comes bit by bit.
package struct Response: Sendable {
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// Content that is written as it comes into being. The closure is called on the connection's loop, after the
        /// head; it keeps the stream and writes to it.
        case stream(@Sendable (ResponseStream) -> Void)
    }

    package var status: HTTPStatus
    /// Fields beside those that the connection itself sees to (`Date`, `Content-Length`, `Transfer-Encoding`,
    /// `Connection`).
    package var headers: [HTTPField]
    package var body: Body

    package init(_ status: HTTPStatus = .ok, headers: [HTTPField] = [], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON document, encoded already.
    package static func json(
        _ bytes: [UInt8], status: HTTPStatus = .ok, headers: [HTTPField] = []
    ) -> Response {
        Response(status, headers: [.contentTypeJSON] + headers, body: .bytes(bytes))
    }

    /// Plain text.
    package static func text(_ text: String, status: HTTPStatus = .ok) -> Response {
        Response(
            status, headers: [HTTPField("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array(text.utf8)))
    }

    var isStream: Bool {
        if case .stream = body { true } else { false }
    }

    /// The content, unless it is a stream.
    var content: [UInt8] {
        if case .bytes(let bytes) = body { bytes } else { [] }
    }

    /// The answer that an ``Abort`` means.
    package init(_ abort: Abort) {
        var json = JSONText()
        json.object { object in
            object.member("error", true)
            object.member("code", abort.code)
            object.member("reason", abort.reason)
            for detail in abort.details { object.member(detail.name, detail.value) }
        }
        self = .json(json.bytes, status: abort.status, headers: abort.headers)
    }
}
