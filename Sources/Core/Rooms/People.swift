import Basics
import FoundationEssentials

/// The people in the rooms of one loop: those who said who they are. Who has left counts for a while more (the grace), because it may
/// be coming back.
struct People {
    private struct Departure {
        let person: UUID
        let room: UUID
        /// The room's.
        let kind: RoomPolicy.Presence
        let until: MonotonicTime
    }

    /// Who comes and goes all the time must not fill the memory: beyond, who leaves has left.
    private static let departureLimit = 65_536

    private let grace: Duration
    /// Who counts once, however many connections it has.
    private enum Identity {
        case person(UUID)
        /// A sender with several places in the room that didn't say who it is: no one who could come back.
        case sender(UUID)

        var id: UUID {
            switch self {
            case .person(let id), .sender(let id): id
            }
        }
    }

    /// By connection. Few say who they are, and each of a connection's members has its place in memory.
    private var identities: [ObjectIdentifier: Identity] = [:]
    /// Who was seen in each room where one may have a partner, as long as somebody is there or may come back.
    private var came: [UUID: Set<UUID>] = [:]
    /// Who has left each room, and until when it counts.
    private var departed: [UUID: [UUID: MonotonicTime]] = [:]
    /// The same in the order of time. Some have come back since.
    private var departures: ArraySlice<Departure> = []

    /// What these people are to be told, in whatever match's room they are.
    var untold: [UUID: any Message] = [:]
    /// From the first of them until they are told.
    static let untoldDelay = Duration.milliseconds(100)

    init(grace: Duration) {
        self.grace = grace
    }

    /// Whether none of the connections has said who it is.
    var isEmpty: Bool { identities.isEmpty }

    /// The rooms that somebody has left a moment ago.
    var roomsOfDeparted: some Collection<UUID> { departed.keys }

    /// When the first departure is over; nil when there is none.
    var nextExpiry: MonotonicTime? { departures.first?.until }

    mutating func enter(_ connection: Connection, as person: UUID) {
        identities[ObjectIdentifier(connection)] = .person(person)
        if connection.room.presence == .reported { came[connection.room.id, default: []].insert(person) }
        endDeparture(of: person, from: connection.room.id)
    }

    /// These connections in a room are one sender's. Those that didn't say who they are count as one from now on.
    mutating func unite(_ connections: [Connection]) {
        guard connections.count > 1 else { return }
        var sender = UUID()
        for connection in connections {
            if case .sender(let known) = identities[ObjectIdentifier(connection)] { sender = known }
        }
        for connection in connections where identities[ObjectIdentifier(connection)] == nil {
            identities[ObjectIdentifier(connection)] = .sender(sender)
        }
    }

    /// - Returns: Who it was, if it had said so.
    mutating func leave(_ connection: Connection, at now: MonotonicTime) -> UUID? {
        guard let person = forget(connection) else { return nil }
        if grace > .zero, departures.count < Self.departureLimit {
            let departure = Departure(
                person: person, room: connection.room.id, kind: connection.room.presence, until: now + grace)
            departed[departure.room, default: [:]][person] = departure.until
            departures.append(departure)
        }
        return person
    }

    /// As ``leave(_:at:)``, of a room that is over.
    mutating func forget(_ connection: Connection) -> UUID? {
        guard !identities.isEmpty else { return nil }
        return switch identities.removeValue(forKey: ObjectIdentifier(connection)) {
        case .person(let person): person
        case .sender, nil: nil
        }
    }

    /// The room is over, for those as well who might have come back.
    ///
    /// - Returns: Whether there were any.
    mutating func forgetDeparted(of room: UUID) -> Bool {
        came[room] = nil
        return departed.removeValue(forKey: room) != nil
    }

    /// - Returns: The rooms of those who didn't come back.
    mutating func expire(at now: MonotonicTime) -> [UUID: RoomPolicy.Presence] {
        var rooms: [UUID: RoomPolicy.Presence] = [:]
        while let departure = departures.first, departure.until <= now {
            departures.removeFirst()
            // Who came back and left once more has a later departure.
            guard departed[departure.room]?[departure.person] == departure.until else { continue }
            endDeparture(of: departure.person, from: departure.room)
            rooms[departure.room] = departure.kind
        }
        return rooms
    }

    /// The last connection has left the room.
    mutating func roomIsEmpty(_ room: UUID) {
        if !came.isEmpty, departed[room] == nil { came[room] = nil }
    }

    private mutating func endDeparture(of person: UUID, from room: UUID) {
        guard departed[room]?.removeValue(forKey: person) != nil, departed[room]?.isEmpty == true else { return }
        departed[room] = nil
    }

    /// Who this is, if it said so.
    func person(of connection: Connection) -> UUID? {
        if case .person(let person)? = identities[ObjectIdentifier(connection)] { person } else { nil }
    }

    /// Who is in a room with these connections and who was; from now on, who is there has been seen.
    mutating func view(of room: UUID, _ connections: [Connection], elsewhere: RoomMembers) -> RoomView {
        var members = members(of: room, connections)
        // Senders too: one with several places here is somebody, and not among the anonymous any more.
        let live = identities.isEmpty ? [] : Set(connections.compactMap { identities[ObjectIdentifier($0)]?.id })
        let anonymous = members.anonymous
        members.add(elsewhere)
        if came[room] != nil {
            came[room]?.formUnion(members.people)
            if members.anonymous > 0 { came[room]?.insert(RoomView.nobody) }
        }
        return RoomView(
            anonymous: anonymous, live: live, departed: departed[room].map { Set($0.keys) } ?? [],
            elsewhere: elsewhere, came: came[room] ?? [], headcount: members.headcount)
    }

    /// Who is in a room with these connections.
    func members(of room: UUID, _ connections: [Connection]) -> RoomMembers {
        var members = RoomMembers(connections: connections.count, anonymous: connections.count)
        if let gone = departed[room] { members.people.formUnion(gone.keys) }
        guard !identities.isEmpty else { return members }
        for connection in connections {
            guard let identity = identities[ObjectIdentifier(connection)] else { continue }
            members.anonymous -= 1
            members.people.insert(identity.id)
        }
        return members
    }
}
