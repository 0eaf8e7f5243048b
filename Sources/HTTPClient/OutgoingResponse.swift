package import Wire

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

    package var isSuccess: Bool { (200..<300).contains(status) }
}
