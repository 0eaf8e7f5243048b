/// The refusal of an upgrade (RFC 6455 §4.2.2, §4.4).
package struct WebSocketHandshakeError: Error, Sendable, Hashable {
    /// The status of the response.
    package let status: HTTPStatus
    package let reason: String
    /// Header fields of the response. They name what a valid request needs.
    package let fields: [HTTPField]

    private init(_ status: HTTPStatus, _ reason: String, fields: [HTTPField] = []) {
        self.status = status
        self.reason = reason
        self.fields = fields
    }

    // A response with 426 names the protocol in `Upgrade` (RFC 9110 §15.5.22). `Connection` lists that field (§7.8).
    private static var offer: [HTTPField] {
        [
            HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
            HTTPField("Sec-WebSocket-Version", "13"),
        ]
    }

    static var noUpgrade: Self {
        Self(
            .upgradeRequired, "This is a WebSocket: the request must have the field Upgrade: websocket.", fields: offer)
    }
    static var badVersion: Self {
        Self(.upgradeRequired, "RFC 6455 §4.4: Sec-WebSocket-Version must be 13.", fields: offer)
    }
    package static var notGet: Self { Self(.badRequest, "RFC 6455 §4.2.1: a handshake must be a GET request.") }
    static var hasBody: Self { Self(.badRequest, "RFC 6455 §4.2.1: a handshake must not have a body.") }
    static var oldHTTP: Self { Self(.badRequest, "RFC 6455 §4.2.1: a handshake must use HTTP/1.1.") }
    static var noConnectionUpgrade: Self {
        Self(.badRequest, "RFC 6455 §4.2.1: the Connection field must contain Upgrade.")
    }
    static var badKey: Self {
        Self(.badRequest, "RFC 6455 §4.2.1: Sec-WebSocket-Key must be given once, and be 16 bytes in base64.")
    }
    static var badExtensions: Self {
        Self(.badRequest, "RFC 6455 §9.1: Sec-WebSocket-Extensions must be a list of extensions with their parameters.")
    }
    static var noDigest: Self { Self(.internalServerError, "SHA-1 is unavailable on this server.") }
}
