import Domain
import FoundationEssentials

/// Whose connections another daemon is asked to end.
enum KickTarget: Sendable {
    /// An address', or a device's by its id.
    case named(String)
    /// A device's, whatever it calls itself.
    case device(DeviceID)
    /// A device's, by what the log of the daemon with this key calls it.
    case tagged(DeviceTag, DeviceTag.Key)
}

/// What goes to the others by NOTIFY: a daemon that has done its part, and what it was asked for.
///
///     <id> <device or address>     <id>/device <device>     <id>/<key> <tag>
///
/// A build that knows the first form only takes what is behind the blank for it, which does no harm: a tag of ours is nobody's there.
struct KickNotice: Sendable {
    private static let device = "device"

    /// As it calls itself.
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

    /// `nil` for what isn't one, or a newer build's.
    init?(payload: String) {
        let words = payload.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let text = String(words[1])
        let parts = words[0].split(separator: "/", maxSplits: 1)
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
