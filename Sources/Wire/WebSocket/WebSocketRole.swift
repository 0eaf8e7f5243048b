/// Which end of the connection this is. A server's peer masks its frames, a client's doesn't (RFC 6455 §5.1).
package enum WebSocketRole: Sendable, Hashable {
    case server, client
}
