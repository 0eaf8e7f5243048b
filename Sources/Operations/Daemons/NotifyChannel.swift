import Rooms

/// The channels of LISTEN and NOTIFY between daemons: a common one, and one for each daemon.
enum NotifyChannel: Hashable {
    case everyDaemon
    case daemon(DaemonID)

    /// Within the 63 bytes of an identifier, and without a need for quotes.
    var name: String {
        switch self {
        case .everyDaemon: "letsswitch_bus"
        // By bytes, because each payload needs it, and characters would take longer.
        case .daemon(let id):
            "letsswitch_bus_" + String(decoding: id.description.utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        }
    }
}
