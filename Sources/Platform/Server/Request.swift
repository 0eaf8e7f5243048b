import Basics
package import Sockets
package import Wire

/// A request, whole: its head and its content.
package struct Request: Sendable {
    package let head: HTTPRequestHead
    package let body: [UInt8]
    /// The path's parts that a route named, such as `id` of `/task/:id`.
    package let parameters: [String: String]
    /// The loop that the connection is on.
    package let loop: EventLoop
    let transport: Transport
    /// The place of the client's address among those that are limited; `nil` for one that isn't.
    var permit: ConnectionPermit?

    /// How the request came here.
    enum Transport {
        case plain, tls
        /// Through a trusted proxy, which says how it came there.
        case proxy
    }

    /// Whether the client asked by TLS: here, or at a trusted proxy that says so.
    package var isSecure: Bool {
        switch transport {
        case .plain: false
        case .tls: true
        case .proxy: head.headers.contains("X-Forwarded-Proto", token: "https")
        }
    }

    /// The value of the first query item with this name.
    package func query(_ name: String) -> String? {
        head.query(name)
    }

    /// Whether the client's address may do this `count` times more, and pays for it: what only a route's handler knows of. Any thread.
    ///
    /// - Returns: `nil` if it may; else for how many seconds not, for `Retry-After`.
    package func wait(for action: LimitedAction, times count: Int = 1) -> Int? {
        permit?.wait(for: action, times: count, at: .now())
    }
}
