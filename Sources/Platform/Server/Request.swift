import Basics
package import Sockets
package import Wire

/// A complete request: its head and content.
package struct Request: Sendable {
    package let head: HTTPRequestHead
    package let body: [UInt8]
    /// The parameters in the path, such as `id` of `/task/:id`.
    package let parameters: [String: String]
    /// The event loop of the connection.
    package let loop: EventLoop
    let transport: Transport
    /// The permit of the client's address, or `nil` if the client has no limits.
    var permit: ConnectionPermit?

    /// How the request arrived.
    enum Transport {
        case plain, tls
        /// Through a trusted proxy, which names the scheme of the client's request.
        case proxy
    }

    /// Whether the client used TLS. If a trusted proxy received the request, the proxy's word counts.
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

    /// The network by which shares are counted, see ``WebSocket/limitedNetwork``.
    package var limitedNetwork: IPAddress? { permit?.network }

    /// Charges the client's address for an action that only the handler knows of. Any thread may call it.
    ///
    /// - Returns: `nil` if the action is admitted, and otherwise the seconds for `Retry-After`.
    package func wait(for action: LimitedAction, times count: Int = 1) -> Int? {
        permit?.wait(for: action, times: count, at: .now())
    }

    /// Returns a charge of ``wait(for:times:)`` for actions that weren't performed. Any thread may call it.
    package func giveBack(_ action: LimitedAction, times count: Int) {
        permit?.giveBack(action, times: count)
    }
}
