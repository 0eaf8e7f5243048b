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
