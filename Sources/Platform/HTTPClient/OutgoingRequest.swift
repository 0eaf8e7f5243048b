package import Wire

/// A request to another server.
package struct OutgoingRequest: Sendable, Hashable {
    package var method: HTTPMethod
    /// An absolute `http` or `https` URL.
    package var url: String
    /// The header fields, without `Host`, `Content-Length` and `Accept`.
    package var headers: [HTTPField]
    package var body: [UInt8]

    package init(_ method: HTTPMethod = .post, _ url: String, headers: [HTTPField] = [], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A server's response, which may be a redirect.
package struct OutgoingResponse: Sendable, Hashable {
    package let status: Int
    /// The header fields in order, with their names as received.
    package let headers: [HTTPField]
    /// The first ``HTTPClient/Configuration/maxBodyBytes`` bytes of the body. The rest wasn't read.
    package let body: [UInt8]

    package init(status: Int, headers: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the value of the first field with this name, ignoring case.
    package func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}
