import Wire

/// Who is in a conversation, as a subscription by the extended protocol is told. A value: says what is to be sent.
///
/// ```
/// unknown ──who is there──► known: who comes and goes is told, if that is wanted
///    └ asked for it: told as soon as it is known
/// ```
struct PresentUsers {
    private enum State {
        case unknown(isAsked: Bool)
        case known([String])
    }

    private var state = State.unknown(isAsked: false)
    /// Whether the peer is told who comes and goes.
    private var tellsJoins: Bool

    init(tellsJoins: Bool) {
        self.tellsJoins = tellsJoins
    }

    /// The peer wants to know, or no longer.
    mutating func take(_ wish: CablePresenceWish) -> [CablePresence] {
        switch (wish, state) {
        case (.join, _): tellsJoins = true
        case (.leave, _): tellsJoins = false
        case (.presence, .unknown): state = .unknown(isAsked: true)
        case (.presence, .known(let users)): return [.info(users)]
        }
        return []
    }

    /// These are there now.
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
