/// What carries requests, WebSockets and event streams to one server: on Linux our own sockets, on Apple's systems URLSession.
protocol Transport: Sendable {
    /// A request with its whole answer, whatever the status.
    func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse

    /// A WebSocket, when the server switched to it; else ``ClientError/refused(_:)``.
    func webSocket(_ request: ClientRequest, subprotocols: [String]) async throws(ClientError) -> any Link

    /// An event stream, when the server answered with one; else ``ClientError/refused(_:)``.
    func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link
}

/// An open connection that brings one thing after another. It answers pings by itself.
protocol Link: Sendable {
    /// The next thing. One reader at a time.
    ///
    /// - Throws: how it ended: ``ClientError/closed(_:reason:)``, ``ClientError/garbled(_:)``.
    func receive() async throws(ClientError) -> LinkEvent

    /// Returns when the kernel has it.
    func send(_ frame: LinkFrame) async throws(ClientError)

    /// Ends it at once.
    func drop()
}

/// What comes.
enum LinkEvent: Sendable, Hashable {
    case message(Opcode, [UInt8])
    /// A server-sent event.
    case event(type: String, data: String, id: String?)
    case pong([UInt8])
    /// The server is there; nothing to tell.
    case alive
}

/// What goes.
enum LinkFrame: Sendable, Hashable {
    case message(Opcode, [UInt8])
    case ping([UInt8])
    case close(CloseCode)
}
