package import Server

/// The handler of the WebSockets of `/socket` that name no room.
package protocol DefaultSocketHandler: Sendable {
    /// The maximum size of a message in bytes.
    var maxMessageBytes: Int { get }
    func admit(_ request: Request) throws -> WebSocketRoute.OnUpgrade
}
