import Domain
import FoundationEssentials
import Wire

/// One daemon's notification of changes to the others, as JSON:
///
/// `{"origin":"…","changes":[{"startsAt":1795338000,"devices":["…"],"all":true},…]}`.
///
/// Devices are array elements instead of field names, because `String` treats some ids with different bytes as the same
/// key.
enum ChangeNotice {
    /// The maximum length of a notification. PostgreSQL accepts less than 8,000 bytes. A change longer than half of
    /// this, such as one with sixteen devices of 128 escaped scalars each, is sent without its devices.
    static let maximumBytes = 7900

    private struct Content: Decodable {
        struct Change: Decodable {
            let startsAt: Int
            let devices: [String]
            let all: Bool
        }

        /// The daemon that sent the notification. The field is decoded only because a notification without it is
        /// invalid. A daemon recognises its own notifications by the beginning of their text.
        let origin: String
        let changes: [Change]
    }

    /// Removes as many changes as fit, and returns their notification. Returns `nil` if there are no changes.
    static func take(from gathered: inout GatheredChanges, origin: String) -> String? {
        var bytes = Array(head(origin).utf8)
        var count = 0
        while let change = gathered.takeOne() {
            var text = encode(change)
            if text.count > maximumBytes / 2 {
                text = encode(GatheredChange(slot: change.slot, devices: [], concernsAll: true))
            }
            guard bytes.count + text.count + 3 <= maximumBytes else {
                gathered.add(change)
                break
            }
            if count > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += text
            count += 1
        }
        return count > 0 ? String(decoding: bytes + Array("]}".utf8), as: UTF8.self) : nil
    }

    private static func head(_ origin: String) -> String { #"{"origin":"\#(origin)","changes":["# }

    private static func encode(_ change: GatheredChange) -> [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("startsAt", change.slot.seconds)
            object.name("devices")
            object.array { array in
                for device in change.devices { array.string(device.text) }
            }
            object.member("all", change.concernsAll)
        }
        return json.bytes
    }

    /// Returns the changes of a notification from another daemon. Returns `nil` if the notification is invalid or comes
    /// from `origin`. Any user of the database can send notifications, so the content is checked.
    static func decode(_ payload: String, unlessFrom origin: String) -> [GatheredChange]? {
        // PostgreSQL also returns a daemon's own notifications to it. A single daemon receives no others. Own
        // notifications are recognised without decoding.
        guard !payload.utf8.starts(with: head(origin).utf8),
            let content = try? JSONDecoder().decode(Content.self, from: Data(payload.utf8))
        else { return nil }
        return content.changes.compactMap { change in
            guard let slot = Instant(checked: change.startsAt) else { return nil }
            return GatheredChange(
                slot: slot, devices: change.devices.map(DeviceID.init(stored:)), concernsAll: change.all)
        }
    }
}
