import Domain
import FoundationEssentials
import Wire

/// What one daemon tells the others of changes, as JSON:
/// `{"origin":"…","changes":[{"startsAt":1795338000,"devices":["…"],"all":true},…]}`.
///
/// Devices are listed, not members of an object: to `String`, ids that differ in bytes may be one key.
enum ChangeNotice {
    /// PostgreSQL takes less than 8,000 bytes. The longest change (sixteen devices of 128 scalars that are escaped each) doesn't
    /// fit: then its devices aren't named.
    static let maximumBytes = 7900

    private struct Content: Decodable {
        struct Change: Decodable {
            let startsAt: Int
            let devices: [String]
            let all: Bool
        }

        /// Whose it is was seen by how it begins; without it, it is no notice.
        let origin: String
        let changes: [Change]
    }

    /// As many changes as fit; nil when there is none.
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

    /// Nil for what is no such notice, and for one of the origin's own. Whoever may use the database can send one: nothing in it
    /// is taken on trust.
    static func decode(_ payload: String, unlessFrom origin: String) -> [GatheredChange]? {
        // Our own come back to us, and of a daemon that is alone there are no others: they aren't worth decoding.
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
