package import Rooms

/// What a daemon says of itself to the others on its database.
package struct DaemonInfo: Sendable, Hashable {
    package let id: DaemonID
    /// The machine's name, for people.
    package let host: String
    /// The version of its program.
    package let build: String
    /// The version of the language that it speaks on the bus.
    package let language: Int
    /// ``BusChoice/busName``.
    package let bus: String

    package init(id: DaemonID, host: String, build: String, language: Int, bus: String) {
        self.id = id
        self.host = host
        self.build = build
        self.language = language
        self.bus = bus
    }
}

/// How its bus has served a daemon so far, as it says itself at each beat: for people.
package struct BusStanding: Sendable, Hashable {
    /// Never, of a daemon that needs no bus for now.
    package var isConnected = false
    /// The last round trip of a packet to itself, or how long none has come back. `nil` before the first, and without a bus.
    package var delay: Duration?
    /// Ales of others that didn't arrive.
    package var lost = 0
    /// Its own ales that no other was told of.
    package var dropped = 0
}

/// A daemon that is alive, as operators see it.
package struct DaemonReport: Sendable, Hashable {
    package let info: DaemonInfo
    /// `nil` if its build doesn't say.
    package let bus: BusStanding?
}
