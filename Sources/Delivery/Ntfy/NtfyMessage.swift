package import Crypto
package import Domain
import FoundationEssentials
import Wire

/// A reminder as an ntfy message.
struct NtfyMessage: Sendable, Hashable {
    let topic: String
    let title: String
    let message: String
    /// What opens at a tap: the room on the browser's page.
    let click: String?

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
        click = publicURL.map { url in
            reminder.roomId == nil ? url + "/" : "\(url)/#room/\(reminder.startsAt)"
        }
    }

    var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("topic", topic)
            object.member("title", title)
            object.member("message", message)
            object.member("priority", 4)
            object.name("tags")
            object.array { $0.string("alarm_clock") }
            object.member("click", click)
        }
        return json.bytes
    }
}

/// The name under which a device's reminders are published. Whoever knows it can read them, so nobody can guess it, and none can
/// be made from it or from the device's id without the server's secret.
package enum NtfyTopic {
    /// 144 bits.
    private static let bytes = 18

    /// ntfy's topics are letters, digits, `_` and `-`, 64 at most.
    package static func name(of device: DeviceID, secret: [UInt8]) throws(CryptoError) -> String {
        let code = try HMACSHA256.authenticate(Array("ntfy topic\0\(device.text)".utf8), key: secret)
        return "letsswitch-" + Base64.encodeForURL(code.prefix(bytes))
    }
}
