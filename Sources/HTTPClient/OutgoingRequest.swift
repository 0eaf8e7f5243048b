package import Wire

/// A request to somebody else's server.
package struct OutgoingRequest: Sendable, Hashable {
    package var method: HTTPMethod
    /// Absolute, `http` or `https`.
    package var url: String
    /// Beside `Host`, `Content-Length` and `Accept`.
    package var headers: [HTTPField]
    package var body: [UInt8]

    package init(_ method: HTTPMethod = .post, _ url: String, headers: [HTTPField] = [], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
