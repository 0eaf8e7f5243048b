/// Who is in a room.
///
/// ```swift
/// if case .presence(let presence) = event { print(presence.count, presence.partner == .here) }
/// ```
public struct Presence: Sendable, Hashable {
    /// Where the partner is, whose task is paired with one's own.
    ///
    /// ```swift
    /// if presence.partner == .away { print("back in a moment") }
    /// ```
    public enum Partner: String, Sendable, Hashable, Decodable {
        /// Hasn't come yet: `case .expected: print("soon")`
        case expected
        /// Is in the room: `case .here: print("here")`
        case here
        /// Has lost the connection, and may be back in some seconds: `case .away: print("lost")`
        case away
        /// Was there, and has gone: `case .left: print("gone")`
        case left
    }

    /// How many are in, oneself too: `presence.count > 1`
    public let count: Int
    /// Where the partner is; `nil` where the room was entered without one's task: `presence.partner == .here`
    public let partner: Partner?

    init(count: Int, partner: Partner? = nil) {
        self.count = count
        self.partner = partner
    }
}
