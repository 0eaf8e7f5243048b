import Rooms

/// The channels of LISTEN and NOTIFY between daemons: one that all listen to, and one for each.
enum NotifyChannel: Hashable {
    case everyDaemon
    case daemon(DaemonID)

    /// Within the 63 bytes of an identifier, and none that would need quotes.
    var name: String {
        switch self {
        case .everyDaemon: "letsswitch_bus"
        // By bytes, since each payload asks: characters would have to be found first.
        case .daemon(let id):
            "letsswitch_bus_" + String(decoding: id.description.utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        }
    }
}
