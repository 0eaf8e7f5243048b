import Rooms

/// The channels of LISTEN and NOTIFY between daemons: one that all listen to, and one for each.
enum NotifyChannel: Hashable {
    case everyDaemon
    case daemon(DaemonID)

    /// Within the 63 bytes of an identifier, and none that would need quotes.
    var name: String {
        switch self {
        case .everyDaemon: "letsswitch_bus"
        case .daemon(let id): "letsswitch_bus_" + id.description.filter { $0 != "-" }
        }
    }
}
