/// The event loops of one application, and the count of sockets that they share.
package struct EventLoopGroup: Sendable {
    package let loops: [EventLoop]
    package let openSockets = SocketCount()

    /// Makes `count` loops, at least one; they run once each is started.
    ///
    /// - Throws: ``SocketError`` when the kernel gives no pollers.
    package init(count: Int) throws {
        let openSockets = openSockets
        loops = try (0..<max(1, count)).map { try EventLoop(index: $0, openSockets: openSockets) }
    }
}
