import Wire

/// Decides which presence to send to a subscription of the extended protocol. A value type.
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
    private var sendsJoins: Bool

    init(sendsJoins: Bool) {
        self.sendsJoins = sendsJoins
    }

    /// Handles a request of the peer to start or stop receiving presence.
    mutating func take(_ request: CablePresenceRequest) -> [CablePresence] {
        switch (request, state) {
        case (.join, _): sendsJoins = true
        case (.leave, _): sendsJoins = false
        case (.presence, .unknown): state = .unknown(isAsked: true)
        case (.presence, .known(let users)): return [.info(users)]
        }
        return []
    }

    /// Handles the new list of present users.
    mutating func update(_ users: [String]) -> [CablePresence] {
        defer { state = .known(users) }
        switch state {
        case .unknown(let isAsked): return isAsked ? [.info(users)] : []
        case .known(let before):
            guard sendsJoins else { return [] }
            return users.filter { !before.contains($0) }.map { .join($0) }
                + before.filter { !users.contains($0) }.map { .leave($0) }
        }
    }
}
