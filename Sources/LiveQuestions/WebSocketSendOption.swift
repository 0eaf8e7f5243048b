import FoundationEssentials
import Messaging
import Server

/// To whom of a session's sockets something is sent. Each of them gets it once, and ids that nobody has are passed over.
enum WebSocketSendOption {
    /// To all sockets with an id: a device may have several.
    case id(UUID)
    case socket(WebSocket)
    case all
    case ids(Set<UUID>)
    case allBut(Set<UUID>)

    init(_ recipients: Recipients) {
        switch recipients {
        case .all: self = .all
        case .ids(let ids): self = .ids(ids)
        case .allBut(let ids): self = .allBut(ids)
        }
    }

    /// - Parameters:
    ///   - id: By which the session knows who listens.
    ///   - webSocket: Its own; `nil` for who listens otherwise.
    func selects(id: UUID, _ webSocket: WebSocket?) -> Bool {
        switch self {
        case .id(let selected): id == selected
        case .socket(let selected): webSocket === selected
        case .all: true
        case .ids(let ids): ids.contains(id)
        case .allBut(let ids): !ids.contains(id)
        }
    }
}
