import Basics
package import Sockets
package import Wire

/// A complete request: its head and content.
package struct Request: Sendable {
    package let head: HTTPRequestHead
    package let body: [UInt8]
    /// The path's parameters, such as `id` of `/task/:id`.
    package let parameters: [String: String]
    /// The connection's loop.
    package let loop: EventLoop
    let transport: Transport
    /// The permit of the client's address; `nil` if it has no limits.
    var permit: ConnectionPermit?

    /// How the request arrived.
    enum Transport {
        case plain, tls
        /// Through a trusted proxy, which names the original scheme.
        case proxy
    }

    /// Whether the client used TLS, here or at a trusted proxy that says so.
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

    /// See ``WebSocket/limitedNetwork``.
    package var limitedNetwork: IPAddress? { permit?.network }

    /// Charges the client's address for an action that only the handler knows of. Any thread.
    ///
    /// - Returns: `nil` if it is admitted; otherwise the seconds for `Retry-After`.
    package func wait(for action: LimitedAction, times count: Int = 1) -> Int? {
        permit?.wait(for: action, times: count, at: .now())
    }

    /// Takes back what ``wait(for:times:)`` charged for actions that weren't performed. Any thread.
    package func giveBack(_ action: LimitedAction, times count: Int) {
        permit?.giveBack(action, times: count)
    }
}
