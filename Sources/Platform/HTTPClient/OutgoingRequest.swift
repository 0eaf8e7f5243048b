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

/// What a server has answered. Redirects are answers like others.
package struct OutgoingResponse: Sendable, Hashable {
    package let status: Int
    /// In their order, names as they came.
    package let headers: [HTTPField]
    /// As far as ``HTTPClient/Configuration/maxBodyBytes`` goes; the rest was not read.
    package let body: [UInt8]

    package init(status: Int, headers: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of this name, in whatever case.
    package func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }
}
