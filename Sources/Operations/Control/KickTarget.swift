import Domain
import FoundationEssentials

/// The target of a request to end connections on another daemon.
enum KickTarget: Sendable {
    /// An address, or a device by its id.
    case named(String)
    /// A device by its id, even if the id looks like an address.
    case device(DeviceID)
    /// A device, by the tag that replaces its id in a daemon's log. A tag is valid only for the daemon that wrote it,
    /// and this is that daemon's key.
    case tagged(DeviceTag, DeviceTag.Key)
}

/// The payload of a NOTIFY to the other daemons: the id of the daemon that has ended its own connections, and the
/// target.
///
///     <id> <device or address>     <id>/device <device>     <id>/<key> <tag>
struct KickNotice: Sendable {
    private static let device = "device"

    /// The id of the daemon that sent the notice.
    let daemon: String
    let target: KickTarget

    var payload: String {
        switch target {
        case .named(let text): "\(daemon) \(text)"
        case .device(let device): "\(daemon)/\(Self.device) \(device.text)"
        case .tagged(let tag, let key): "\(daemon)/\(key) \(tag)"
        }
    }

    init(from daemon: String, _ target: KickTarget) {
        self.daemon = daemon
        self.target = target
    }

    /// Returns `nil` if the payload isn't a notice, or is the notice of a newer build.
    init?(payload: String) {
        let fields = payload.split(separator: " ", maxSplits: 1)
        guard fields.count == 2 else { return nil }
        let text = String(fields[1])
        let parts = fields[0].split(separator: "/", maxSplits: 1)
        guard let first = parts.first else { return nil }
        daemon = String(first)
        if parts.count == 1 {
            target = .named(text)
        } else if parts[1] == Self.device {
            target = .device(DeviceID(stored: text))
        } else {
            guard let key = DeviceTag.Key(text: parts[1]), let tag = DeviceTag(text: text) else { return nil }
            target = .tagged(tag, key)
        }
    }
}
