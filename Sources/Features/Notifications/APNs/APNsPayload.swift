import Domain
import FoundationEssentials
import Wire

/// A notification's visible text, and the data for the app.
enum APNsPayload {
    /// Apple's maximum size of a payload, in bytes.
    static let maxBytes = 4096
    /// The maximum size in bytes after Apple refused a payload as too large.
    static let shortBytes = 2048

    /// Returns JSON of at most `maxBytes` bytes. Titles are cut to fit.
    static func json(_ reminder: ReminderContent, maxBytes: Int = maxBytes) -> [UInt8] {
        json(reminder, Delivery.reminder, maxBytes) { body(reminder, $0) }
    }

    static func json(_ notice: PartnerNotice, maxBytes: Int = maxBytes) -> [UInt8] {
        json(notice.task, Delivery.partnerChanged, maxBytes) { notice.sentence(partner: $0) }
    }

    /// Returns JSON with the information that Apple may have: the names of authors and their number. Names are short,
    /// so the JSON always fits.
    static func json(_ unread: UnreadMessages) -> [UInt8] {
        var json = JSONText()
        json.object { object in
            object.name("aps")
            object.object { aps in
                aps.name("alert")
                aps.object { alert in
                    alert.member("title", unread.authorSummary)
                    alert.member("body", unread.countSummary)
                }
                aps.member("sound", "default")
                aps.member("thread-id", unread.conversation.text.lowercased())
            }
            object.member("type", Delivery.messages)
            object.member("conversation", unread.conversation.text)
            object.member("count", unread.count)
        }
        return json.bytes
    }

    /// - Parameter body: Returns the text for the part of the partner's title that fits.
    private static func json(
        _ reminder: ReminderContent, _ type: String, _ maxBytes: Int, body: (String?) -> String
    ) -> [UInt8] {
        var scalars = RequestText.maximumTitleScalars
        while true {
            let json = json(reminder, type, titleScalars: scalars, body: body)
            guard json.count > maxBytes, scalars > 0 else { return json }
            scalars = scalars * 3 / 4
        }
    }

    private static func json(
        _ reminder: ReminderContent, _ type: String, titleScalars: Int, body: (String?) -> String
    ) -> [UInt8] {
        let title = reminder.title.cut(toScalars: titleScalars)
        let partner = reminder.partnerTask.map { $0.cut(toScalars: titleScalars) }
        var json = JSONText()
        json.object { object in
            object.name("aps")
            object.object { aps in
                aps.name("alert")
                aps.object { alert in
                    alert.member("title", BidirectionalText.closed(title))
                    alert.member("body", body(partner))
                }
                aps.member("sound", "default")
                aps.member("thread-id", reminder.groupId)
                aps.member("interruption-level", "time-sensitive")
            }
            object.member("type", type)
            object.member("id", reminder.id.text)
            object.member("taskId", reminder.taskId.text)
            object.member("roomId", reminder.roomId?.text)
            object.member("startTime", reminder.startTime)
            object.member("startsAt", reminder.startsAt.description)
            object.member("partnerTask", partner)
        }
        return json.bytes
    }

    private static func body(_ reminder: ReminderContent, _ partner: String?) -> String {
        let start = "Starts at \(reminder.startTime)."
        if let partner { return "\(start) Somebody starts with you: \(BidirectionalText.quoted(partner))" }
        return reminder.roomId == nil ? start : "\(start) Somebody starts with you."
    }
}

extension ReminderContent {
    /// The key of notifications that replace each other on the screen: the room of the match, or the task.
    var groupId: String {
        (roomId ?? taskId).text.lowercased()
    }
}
