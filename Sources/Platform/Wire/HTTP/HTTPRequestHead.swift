/// The head of a request: its bytes as they arrived, and the positions of its parts. All parts are validated. A head
/// takes three allocations for any number of fields, and makes strings only on request. It is a class because many
/// functions pass it on.
package final class HTTPRequestHead: Sendable {
    package let method: HTTPMethod
    package let version: HTTPVersion
    package let targetForm: HTTPTargetForm
    package let bodyFraming: HTTPBodyFraming
    /// Whether the connection may be used again after the response (RFC 9112 §9.3).
    package let isKeepAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    package let expectsContinue: Bool

    let bytes: [UInt8]
    let fields: [HTTPFieldLine]
    let targetRange: ByteRange
    let pathRange: ByteRange
    let queryRange: ByteRange?
    private let hostRange: ByteRange?

    init(
        bytes: [UInt8], requestLine: HTTPRequestLine, fields: [HTTPFieldLine], framing: HTTPFraming,
        bodyFraming: HTTPBodyFraming
    ) {
        self.bytes = bytes
        self.fields = fields
        self.bodyFraming = bodyFraming
        method = requestLine.method
        version = requestLine.version
        targetForm = requestLine.target.form
        targetRange = requestLine.target.whole
        pathRange = requestLine.target.path
        queryRange = requestLine.target.query
        hostRange = requestLine.target.authority ?? framing.host
        isKeepAlive = framing.isKeepAlive(version: requestLine.version)
        expectsContinue = framing.expectsContinue(before: bodyFraming)
    }

    /// The header fields in their order.
    package var headers: HTTPHeaders { HTTPHeaders(head: self) }

    /// The request's target as it was sent.
    package var target: String { text(targetRange) }

    /// The requested `host` or `host:port`. It comes from an absolute target, or otherwise from `Host` (RFC 9112
    /// §3.2.2). It is `nil` only in HTTP/1.0.
    package var host: String? { hostRange.map(text) }

    /// Calls `body` with the host and returns the result. No string is made.
    func withHost<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        hostRange.map { range in bytes.withUnsafeBytes { body($0.part(range.range)) } }
    }

    func text(_ range: ByteRange) -> String {
        String(decoding: bytes[range.range], as: UTF8.self)
    }
}
