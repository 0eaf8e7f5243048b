import Basics
import FoundationEssentials

/// The named people in the rooms of one loop. A person whose last connection left still counts until the grace is over,
/// because the person may reconnect.
struct People {
    private struct Departure {
        let person: UUID
        let room: UUID
        /// The kind of the room's presence.
        let kind: RoomPolicy.Presence
        let until: MonotonicTime
    }

    /// The maximum number of stored departures. It limits the memory for people who come and go again and again. Beyond
    /// it, a person who leaves has no grace.
    private static let departureLimit = 65_536

    private let grace: Duration
    /// An identity that counts as one person, however many connections it has.
    private enum Identity {
        case person(UUID)
        /// A sender without a name that has several connections in the room. When it leaves, no grace begins.
        case sender(UUID)

        var id: UUID {
            switch self {
            case .person(let id), .sender(let id): id
            }
        }
    }

    /// Identities by connection. Few connections have one.
    private var identities: [ObjectIdentifier: Identity] = [:]
    /// For the rooms of matches only: the people who were ever in the room, so that a person's partner can be reported
    /// as gone. The entry of a room is removed when its last connection has left and no grace lasts.
    private var came: [UUID: Set<UUID>] = [:]
    /// The people who left each room, and the times until which they count.
    private var departed: [UUID: [UUID: MonotonicTime]] = [:]
    /// The departures in order of time. Some of these people may have entered the room again.
    private var departures: ArraySlice<Departure> = []

    /// Messages that will be sent to people, whatever their room.
    var pendingMessages: [UUID: any Message] = [:]
    /// The delay after which the messages in ``pendingMessages`` are sent together.
    static let pendingMessageDelay = Duration.milliseconds(100)

    init(grace: Duration) {
        self.grace = grace
    }

    /// Whether no connection has an identity.
    var isEmpty: Bool { identities.isEmpty }

    /// The rooms with people whose grace isn't over.
    var roomsOfDeparted: some Collection<UUID> { departed.keys }

    /// The time when the first grace is over; nil if there is none.
    var nextExpiry: MonotonicTime? { departures.first?.until }

    mutating func enter(_ connection: Connection, as person: UUID) {
        identities[ObjectIdentifier(connection)] = .person(person)
        if connection.room.presence == .reported { came[connection.room.id, default: []].insert(person) }
        endDeparture(of: person, from: connection.room.id)
    }

    /// Records that these connections in a room belong to one sender. Those without a name count as one person from now
    /// on.
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

    /// - Returns: The person, if the connection had a name.
    mutating func leave(_ connection: Connection, at now: MonotonicTime) -> UUID? {
        guard let person = removeIdentity(of: connection) else { return nil }
        if grace > .zero, departures.count < Self.departureLimit {
            let departure = Departure(
                person: person, room: connection.room.id, kind: connection.room.presence, until: now + grace)
            departed[departure.room, default: [:]][person] = departure.until
            departures.append(departure)
        }
        return person
    }

    /// Removes a connection of a room that has closed. See ``leave(_:at:)``.
    mutating func removeIdentity(of connection: Connection) -> UUID? {
        guard !identities.isEmpty else { return nil }
        return switch identities.removeValue(forKey: ObjectIdentifier(connection)) {
        case .person(let person): person
        case .sender, nil: nil
        }
    }

    /// Ends the grace of all people of a room that has closed.
    ///
    /// - Returns: Whether there were any.
    mutating func removeDeparted(of room: UUID) -> Bool {
        came[room] = nil
        return departed.removeValue(forKey: room) != nil
    }

    /// - Returns: The rooms of the people whose grace is over.
    mutating func expire(at now: MonotonicTime) -> [UUID: RoomPolicy.Presence] {
        var rooms: [UUID: RoomPolicy.Presence] = [:]
        while let departure = departures.first, departure.until <= now {
            departures.removeFirst()
            // A person who came back and left again has a later departure.
            guard departed[departure.room]?[departure.person] == departure.until else { continue }
            endDeparture(of: departure.person, from: departure.room)
            rooms[departure.room] = departure.kind
        }
        return rooms
    }

    /// Cleans up after the last connection has left the room.
    mutating func roomIsEmpty(_ room: UUID) {
        if !came.isEmpty, departed[room] == nil { came[room] = nil }
    }

    private mutating func endDeparture(of person: UUID, from room: UUID) {
        guard departed[room]?.removeValue(forKey: person) != nil, departed[room]?.isEmpty == true else { return }
        departed[room] = nil
    }

    /// Returns the connection's person, if it has a name.
    func person(of connection: Connection) -> UUID? {
        if case .person(let person)? = identities[ObjectIdentifier(connection)] { person } else { nil }
    }

    /// Returns the present and former members of a room with these connections, and records the present ones as seen.
    mutating func view(of room: UUID, _ connections: [Connection], elsewhere: RoomMembers) -> RoomView {
        var members = members(of: room, connections)
        // Includes senders, because a sender with several connections here isn't counted as anonymous.
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

    /// Returns the members of a room with these connections.
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
