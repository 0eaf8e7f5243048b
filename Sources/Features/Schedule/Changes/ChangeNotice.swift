import Domain
import FoundationEssentials
import Wire

/// One daemon's notification of changes to the others, as JSON:
///
/// `{"origin":"…","changes":[{"startsAt":1795338000,"devices":["…"],"all":true},…]}`.
///
/// Devices are array elements instead of member names, because `String` treats some ids with different bytes as the
/// same key.
enum ChangeNotice {
    /// PostgreSQL accepts less than 8,000 bytes. The longest change (sixteen devices of 128 escaped scalars each)
    /// doesn't fit. Its devices are then left out.
    static let maximumBytes = 7900

    private struct Content: Decodable {
        struct Change: Decodable {
            let startsAt: Int
            let devices: [String]
            let all: Bool
        }

        /// The beginning of the text already told the origin. Without the member it isn't a notification.
        let origin: String
        let changes: [Change]
    }

    /// Takes as many changes as fit; nil if there are none.
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

    /// Nil for an invalid notification, and for one of this origin. Any user of the database can send one, so its
    /// content is checked.
    static func decode(_ payload: String, unlessFrom origin: String) -> [GatheredChange]? {
        // Own notifications come back, and a single daemon has no others. They aren't decoded.
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
