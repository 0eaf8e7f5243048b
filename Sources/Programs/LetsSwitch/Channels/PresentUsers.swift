import Wire

/// The users present in a conversation, for a subscription of the extended protocol. A value that decides what to send.
///
/// ```
/// unknown ──present users──► known: changes are sent if the peer wants them
///    └ requested: sent as soon as the users are known
/// ```
struct PresentUsers {
    private enum State {
        case unknown(isAsked: Bool)
        case known([String])
    }

    private var state = State.unknown(isAsked: false)
    /// Whether the peer receives changes of presence.
    private var tellsJoins: Bool

    init(tellsJoins: Bool) {
        self.tellsJoins = tellsJoins
    }

    /// Handles the peer's wish to receive presence, or no longer.
    mutating func take(_ wish: CablePresenceWish) -> [CablePresence] {
        switch (wish, state) {
        case (.join, _): tellsJoins = true
        case (.leave, _): tellsJoins = false
        case (.presence, .unknown): state = .unknown(isAsked: true)
        case (.presence, .known(let users)): return [.info(users)]
        }
        return []
    }

    /// Handles the users that are present now.
    mutating func update(_ users: [String]) -> [CablePresence] {
        defer { state = .known(users) }
        switch state {
        case .unknown(let isAsked): return isAsked ? [.info(users)] : []
        case .known(let before):
            guard tellsJoins else { return [] }
            return users.filter { !before.contains($0) }.map { .join($0) }
                + before.filter { !users.contains($0) }.map { .leave($0) }
        }
    }
}
