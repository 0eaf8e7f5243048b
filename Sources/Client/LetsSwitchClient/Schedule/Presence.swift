/// The members of a room.
///
/// ```swift
/// if case .presence(let presence) = event { print(presence.count, presence.partner == .here) }
/// ```
public struct Presence: Sendable, Hashable {
    /// The partner's presence in the room.
    ///
    /// ```swift
    /// if presence.partner == .away { print("connection lost") }
    /// ```
    public enum Partner: String, Sendable, Hashable, Decodable {
        /// The partner hasn't entered the room yet: `case .expected: print("soon")`
        case expected
        /// The partner is in the room: `case .here: print("here")`
        case here
        /// The partner has lost the connection, and may be back within seconds: `case .away: print("lost")`
        case away
        /// The partner has left the room: `case .left: print("gone")`
        case left
    }

    /// The number of members, including this one: `presence.count > 1`
    public let count: Int
    /// The partner's whereabouts, or `nil` if the room was entered without a task: `presence.partner == .here`
    public let partner: Partner?

    init(count: Int, partner: Partner? = nil) {
        self.count = count
        self.partner = partner
    }
}
