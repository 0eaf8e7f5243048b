package import FoundationEssentials

/// The events of one turn in a loop's rooms that other daemons must receive.
package struct RoomNews: Sendable {
    /// Ales in a room with members on other daemons. The room may occur more than once.
    package struct Ales: Sendable, Equatable {
        package let room: UUID
        package let count: UInt32
        package let kind: CheerKind

        package init(_ room: UUID, _ count: UInt32, _ kind: CheerKind = .plain) {
            self.room = room
            self.count = count
            self.kind = kind
        }
    }

    package var ales: [Ales] = []
    /// The rooms with changed members. They follow the ales.
    package var members: [MembersOfRoom] = []

    package init() {}

    var isEmpty: Bool { ales.isEmpty && members.isEmpty }
}

/// The exchange of a loop's rooms with other daemons: the news to send, and the known members on those daemons.
struct RoomLink {
    /// How long changes of an audience are gathered before a report. Each report contains all members of the audience.
    static let audienceInterval = Duration.milliseconds(500)

    private var news = RoomNews()
    private var changed: Set<UUID> = []
    /// Audiences with unreported changes, for which a timer is running.
    private var gathering: Set<UUID> = []
    private var elsewhere: [UUID: RoomMembers] = [:]
    /// Called at the end of each turn that has news. `nil` if there are no other daemons.
    private let report: (@Sendable (RoomNews) -> Void)?

    init(report: (@Sendable (RoomNews) -> Void)?) {
        self.report = report
    }

    var hasNews: Bool { !news.isEmpty || !changed.isEmpty }

    /// Returns the members of a room on other daemons.
    func members(of room: UUID) -> RoomMembers? {
        elsewhere.isEmpty ? nil : elsewhere[room]
    }

    /// The rooms with members on other daemons.
    var rooms: some Collection<UUID> { elsewhere.keys }

    mutating func set(_ members: RoomMembers, of room: UUID) {
        elsewhere[room] = members.isEmpty ? nil : members
    }

    mutating func add(_ ales: RoomNews.Ales) {
        news.ales.append(ales)
    }

    mutating func changed(_ room: UUID) {
        if report != nil { changed.insert(room) }
    }

    /// Records a change in an audience. See ``changed(_:)``.
    ///
    /// - Returns: Whether ``audienceGathered(_:)`` must be called after ``audienceInterval``.
    mutating func audienceChanged(_ room: UUID) -> Bool {
        report != nil && gathering.insert(room).inserted
    }

    mutating func audienceGathered(_ room: UUID) {
        gathering.remove(room)
        changed(room)
    }

    /// Reports the news at the end of the turn.
    mutating func reportNews(_ members: (UUID) -> RoomMembers) {
        guard hasNews else { return }
        news.members = changed.map { MembersOfRoom($0, members($0)) }
        report?(news)
        news = RoomNews()
        changed.removeAll(keepingCapacity: true)
    }
}
