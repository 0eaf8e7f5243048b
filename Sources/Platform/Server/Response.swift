package import Wire

/// A response: status, header fields, and complete or streamed content.
package struct Response: Sendable {
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// Streamed content. After the head of the response is enqueued, the closure is called on the connection's
        /// loop. The closure keeps the stream and writes to it.
        case stream(@Sendable (ResponseStream) -> Void)
    }

    package var status: HTTPStatus
    /// The header fields, without those that the connection adds: `Date`, `Content-Length`, `Transfer-Encoding` and
    /// `Connection`.
    package var headers: [HTTPField]
    package var body: Body

    package init(_ status: HTTPStatus = .ok, headers: [HTTPField] = [], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a response from encoded JSON.
    package static func json(
        _ bytes: [UInt8], status: HTTPStatus = .ok, headers: [HTTPField] = []
    ) -> Response {
        Response(status, headers: [.contentTypeJSON] + headers, body: .bytes(bytes))
    }

    /// Makes a response of plain text.
    package static func text(_ text: String, status: HTTPStatus = .ok) -> Response {
        Response(
            status, headers: [HTTPField("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array(text.utf8)))
    }

    var isStream: Bool {
        if case .stream = body { true } else { false }
    }

    /// The content. It is empty for a stream.
    var content: [UInt8] {
        if case .bytes(let bytes) = body { bytes } else { [] }
    }

    /// Makes the response for an ``Abort``.
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
