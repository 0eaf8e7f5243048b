import Rooms
import Schedule
import Wire

/// The messages of a match's room except ales, in the form for subscriptions.
enum RoomContents {
    /// - Parameter toPartner: Whether the recipient is one of the match's two people, who receives the partner's
    ///   presence.
    /// - Returns: `nil` for a message that isn't sent there.
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
