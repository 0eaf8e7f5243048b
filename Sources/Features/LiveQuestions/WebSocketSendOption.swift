import FoundationEssentials
import Messaging
import Server

/// To whom of a session's sockets something is sent. Each of them gets it once, and ids that nobody has are passed over.
struct WebSocketSendOption {
    /// Of the ids that were named, however often: each socket looks whether its own is among them.
    private enum Selection {
        case id(UUID)
        case socket(WebSocket)
        case all
        case ids(Set<UUID>)
        case allBut(Set<UUID>)
    }

    private let selection: Selection

    private init(_ selection: Selection) {
        self.selection = selection
    }

    init(_ recipients: Recipients) {
        switch recipients {
        case .all: selection = .all
        case .ids(let ids): selection = .ids(ids)
        case .allBut(let ids): selection = .allBut(ids)
        }
    }

    static var all: Self { Self(Selection.all) }
    /// To all sockets with an id: a device may have several.
    static func id(_ id: UUID) -> Self { Self(Selection.id(id)) }
    static func socket(_ webSocket: WebSocket) -> Self { Self(Selection.socket(webSocket)) }
    static func ids(_ ids: [UUID]) -> Self { Self(Selection.ids(Set(ids))) }
    static func allBut(_ ids: [UUID]) -> Self { Self(Selection.allBut(Set(ids))) }

    /// - Parameters:
    ///   - id: By which the session knows who listens.
    ///   - webSocket: Its own; `nil` for who listens otherwise.
    func selects(id: UUID, _ webSocket: WebSocket?) -> Bool {
        switch selection {
        case .id(let selected): id == selected
        case .socket(let selected): webSocket === selected
        case .all: true
        case .ids(let ids): ids.contains(id)
        case .allBut(let ids): !ids.contains(id)
        }
    }
}
