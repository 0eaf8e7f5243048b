import Domain
import FoundationEssentials
import Wire

/// What a device is shown, and what its app is told beside it.
enum APNsPayload {
    /// Apple's limit.
    static let maxBytes = 4096
    /// When Apple says that it was too much nevertheless.
    static let shortBytes = 2048

    /// JSON of at most `maxBytes`: titles are cut until it is.
    static func json(_ reminder: ReminderContent, maxBytes: Int = maxBytes) -> [UInt8] {
        json(reminder, Delivery.reminder, maxBytes) { body(reminder, $0) }
    }

    static func json(_ notice: PartnerNotice, maxBytes: Int = maxBytes) -> [UInt8] {
        json(notice.task, Delivery.partnerChanged, maxBytes) { notice.sentence(partner: $0) }
    }

    /// What Apple may know: who, and how many. Names are short: it always fits.
    static func json(_ untold: UntoldMessages) -> [UInt8] {
        var json = JSONText()
        json.object { object in
            object.name("aps")
            object.object { aps in
                aps.name("alert")
                aps.object { alert in
                    alert.member("title", untold.who)
                    alert.member("body", untold.howMany)
                }
                aps.member("sound", "default")
                aps.member("thread-id", untold.conversation.text.lowercased())
            }
            object.member("type", Delivery.messages)
            object.member("conversation", untold.conversation.text)
            object.member("count", untold.count)
        }
        return json.bytes
    }

    /// - Parameter body: Of the partner's title, as much of it as there is room for.
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
    /// What belongs together, and replaces one another, on a person's screen: the match's room, or the task alone.
    var groupId: String {
        (roomId ?? taskId).text.lowercased()
    }
}
