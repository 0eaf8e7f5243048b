import Rooms
import Schedule
import Wire

/// The messages of a match's room for subscriptions, except ales.
enum RoomContents {
    /// Returns the content of a message.
    ///
    /// - Parameter toPartner: Whether the recipient names a task of the match, so that it receives the partner's
    ///   presence.
    /// - Returns: `nil` for a message that isn't sent to subscriptions.
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
