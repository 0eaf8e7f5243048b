package import Wire

/// What an application does with one WebSocket. All calls come on the socket's loop.
package protocol WebSocketHandler: AnyObject {
    /// A message came, whole and unmasked, text checked to be UTF-8. The memory is valid until the call returns.
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode)

    /// The WebSocket is over: nothing comes any more, and what is sent is lost. Called exactly once.
    ///
    /// - Parameter code: The peer's close code or ours; 1006 when the connection ended without one.
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode)
}
