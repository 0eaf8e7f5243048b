import Domain
import FoundationEssentials
import Server

/// Selects the sockets of a session that receive a message. Each selected socket receives it once. Unknown ids are
/// ignored.
struct WebSocketSendOption {
    /// The selection. Ids are in a set, in which each socket looks up its own id.
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
    /// Selects all sockets with an id. A device may have several sockets.
    static func id(_ id: UUID) -> Self { Self(Selection.id(id)) }
    static func socket(_ webSocket: WebSocket) -> Self { Self(Selection.socket(webSocket)) }
    static func ids(_ ids: [UUID]) -> Self { Self(Selection.ids(Set(ids))) }
    static func allBut(_ ids: [UUID]) -> Self { Self(Selection.allBut(Set(ids))) }

    /// Returns whether a subscriber is selected.
    ///
    /// - Parameters:
    ///   - id: The subscriber's id within the session.
    ///   - webSocket: The subscriber's WebSocket. `nil` for other transports.
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
