package import Rooms

/// The information that a daemon publishes for the others on its database.
package struct DaemonInfo: Sendable, Hashable {
    package let id: DaemonID
    /// The machine's name, for people.
    package let host: String
    /// The program's version.
    package let build: String
    /// The version of the daemon's packets.
    package let language: Int
    /// See ``BusChoice/busName``.
    package let bus: String

    package init(id: DaemonID, host: String, build: String, language: Int, bus: String) {
        self.id = id
        self.host = host
        self.build = build
        self.language = language
        self.bus = bus
    }
}

/// The state of a daemon's bus, which the daemon reports at each beat. Operators' commands and pages show this state.
package struct BusStatus: Sendable, Hashable {
    /// Whether the bus is connected. Always `false` for a daemon that needs no bus now.
    package var isConnected = false
    /// The last round trip, or the time since the last packet came back. `nil` before the first one, and without a bus.
    package var delay: Duration?
    /// The number of other daemons' ales that didn't arrive.
    package var lost = 0
    /// The number of own ales that were dropped.
    package var dropped = 0
}

/// A live daemon, as operators see it.
package struct DaemonReport: Sendable, Hashable {
    package let info: DaemonInfo
    package let bus: BusStatus
}
