package import Crypto
package import Domain
import FoundationEssentials
import Wire

/// An ntfy message: a reminder, a changed partner, or new messages.
struct NtfyMessage: Sendable, Hashable {
    let topic: String
    let title: String
    let message: String
    /// The link that opens on a tap: the room or the conversation in the browser.
    let click: String?
    let priority: Int
    let tag: String

    init(_ reminder: ReminderContent, topic: String, publicURL: String?) {
        self.topic = topic
        title = BidirectionalText.closed(reminder.title)
        let start = reminder.startTime
        message =
            if let partner = reminder.partnerTask {
                "Starts at \(start). Somebody starts \(BidirectionalText.quoted(partner)) with you: the room is open."
            } else if reminder.roomId != nil {
                "Starts at \(start). Somebody starts with you: the room is open."
            } else {
                "Starts at \(start)."
            }
        click = Self.click(reminder, publicURL)
        priority = 4
        tag = "alarm_clock"
    }

    init(_ notice: PartnerNotice, topic: String, publicURL: String?) {
        self.topic = topic
        title = BidirectionalText.closed(notice.task.title)
        message = notice.sentence(partner: notice.task.partnerTask)
        click = Self.click(notice.task, publicURL)
        priority = 4
        tag = "wave"
    }

    private static func click(_ task: ReminderContent, _ publicURL: String?) -> String? {
        publicURL.map { task.roomId == nil ? $0 + "/" : "\($0)/#room/\(task.startsAt)" }
    }

    /// Creates the message for unread messages. The ntfy server can read it, so it contains only the authors' names and
    /// their number.
    init(_ unread: UnreadMessages, topic: String, publicURL: String?) {
        self.topic = topic
        title = unread.authorSummary
        message = unread.countSummary
        click = publicURL.map { "\($0)/conversations#\(unread.conversation.text)" }
        priority = 3
        tag = "speech_balloon"
    }

    var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("topic", topic)
            object.member("title", title)
            object.member("message", message)
            object.member("priority", priority)
            object.name("tags")
            object.array { $0.string(tag) }
            object.member("click", click)
        }
        return json.bytes
    }
}

/// The topic of a device's reminders. Anyone who knows the topic can read them. The topic looks random, and can be
/// computed only with the server's secret.
package enum NtfyTopic {
    /// The length of the random part: 144 bits.
    private static let bytes = 18

    /// Returns the device's topic. ntfy's topics have letters, digits, `_` and `-`, and at most 64 characters.
    package static func name(of device: DeviceID, secret: [UInt8]) throws(CryptoError) -> String {
        let code = try HMACSHA256.authenticate(Array("ntfy topic\0\(device.text)".utf8), key: secret)
        return "letsswitch-" + Base64.encodeForURL(code.prefix(bytes))
    }
}
