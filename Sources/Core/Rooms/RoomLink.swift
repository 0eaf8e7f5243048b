package import FoundationEssentials

/// What happened in the rooms of a loop, in one turn of it, that other daemons are to hear of.
package struct RoomNews: Sendable {
    /// Ales in a room that has somebody elsewhere. The room may occur more than once.
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
    /// Rooms that somebody came to or left, after the ales.
    package var members: [MembersOfRoom] = []

    package init() {}

    var isEmpty: Bool { ales.isEmpty && members.isEmpty }
}

/// A loop's rooms, as they hang together with those of other daemons: what is to be told these, and what is known of them.
struct RoomLink {
    /// How long what changes in a hall is gathered: each time the others are told all who are there.
    static let hallInterval = Duration.milliseconds(500)

    private var news = RoomNews()
    private var changed: Set<UUID> = []
    /// Halls of which there is something to tell, and a timer runs.
    private var gathering: Set<UUID> = []
    private var elsewhere: [UUID: RoomMembers] = [:]
    /// Told the news of each turn. nil: there are no other daemons.
    private let tell: (@Sendable (RoomNews) -> Void)?

    init(tell: (@Sendable (RoomNews) -> Void)?) {
        self.tell = tell
    }

    var hasNews: Bool { !news.isEmpty || !changed.isEmpty }

    /// Who is in a room on other daemons.
    func members(of room: UUID) -> RoomMembers? {
        elsewhere.isEmpty ? nil : elsewhere[room]
    }

    /// The rooms that have somebody elsewhere.
    var rooms: some Collection<UUID> { elsewhere.keys }

    mutating func set(_ members: RoomMembers, of room: UUID) {
        elsewhere[room] = members.isEmpty ? nil : members
    }

    mutating func add(_ ales: RoomNews.Ales) {
        news.ales.append(ales)
    }

    mutating func changed(_ room: UUID) {
        if tell != nil { changed.insert(room) }
    }

    /// As ``changed(_:)``, in a hall.
    ///
    /// - Returns: Whether ``hallGathered(_:)`` is to be called after ``hallInterval``.
    mutating func hallChanged(_ room: UUID) -> Bool {
        tell != nil && gathering.insert(room).inserted
    }

    mutating func hallGathered(_ room: UUID) {
        gathering.remove(room)
        changed(room)
    }

    /// The turn ends.
    mutating func tellNews(_ members: (UUID) -> RoomMembers) {
        guard hasNews else { return }
        news.members = changed.map { MembersOfRoom($0, members($0)) }
        tell?(news)
        news = RoomNews()
        changed.removeAll(keepingCapacity: true)
    }
}
