/// The way to send requests and to open WebSockets and event streams to one server. On Linux it uses this project's
/// sockets, and on Apple's systems URLSession.
protocol Transport: Sendable {
    /// Sends a request, and returns the complete answer with any status.
    func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse

    /// Opens a WebSocket, or throws ``ClientError/refused(_:)`` if the server refuses.
    func webSocket(_ request: ClientRequest, subprotocols: [String]) async throws(ClientError) -> any Link

    /// Opens an event stream, or throws ``ClientError/refused(_:)`` if the server refuses.
    func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link
}

/// An open connection that receives events. The link answers pings.
protocol Link: Sendable {
    /// Returns the next event. Only one reader may wait at a time.
    ///
    /// - Throws: The connection's end: ``ClientError/closed(_:reason:)``, ``ClientError/garbled(_:)``.
    func receive() async throws(ClientError) -> LinkEvent

    /// Sends a frame, and returns when the kernel has it.
    func send(_ frame: LinkFrame) async throws(ClientError)

    /// Ends the connection at once.
    func drop()
}

/// A received event of a link.
enum LinkEvent: Sendable, Hashable {
    case message(Opcode, [UInt8])
    /// A server-sent event.
    case event(type: String, data: String, id: String?)
    case pong([UInt8])
    /// The server is alive. This event carries no content.
    case alive
}

/// A frame to send.
enum LinkFrame: Sendable, Hashable {
    case message(Opcode, [UInt8])
    case ping([UInt8])
    case close(CloseCode)
}
