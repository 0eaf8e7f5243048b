import Rooms
import Scheduling
import Wire

/// What is told in a match's room besides ales, as its subscriptions have it.
enum RoomContents {
    /// - Parameter toPartner: Whether it goes to one of the match's two, who is told of the other one.
    /// - Returns: nil for what isn't told there.
    static func content(of message: any Message, toPartner: Bool) -> CableContent? {
        switch message {
        case let rematch as Rematch: CableContent("rematched") { rematch.write(to: &$0) }
        case let presence as PresenceCount:
            CableContent("presence") { data in
                data.member("count", presence.count)
                if toPartner { data.member("partner", presence.partner?.rawValue) }
            }
        default: nil
        }
    }
}
