import Rooms

/// The channels of LISTEN and NOTIFY between daemons: a common channel, and one channel for each daemon.
enum NotifyChannel: Hashable {
    case everyDaemon
    case daemon(DaemonID)

    /// The channel's name. It fits PostgreSQL's limit of 63 bytes and needs no quotes.
    var name: String {
        switch self {
        case .everyDaemon: "letsswitch_bus"
        // The name is made of bytes, because each payload needs a name, and characters would take longer.
        case .daemon(let id):
            "letsswitch_bus_" + String(decoding: id.description.utf8.filter { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        }
    }
}
