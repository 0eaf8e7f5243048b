import FoundationEssentials

/// The messages between daemons, and their encoding in bytes.
///
/// The first byte is the version, the second the kind. Numbers are little-endian. A daemon ignores kinds that it
/// doesn't know, so a newer build may add some. Any other change needs a new version.
enum RelayMessage: Equatable, Sendable {
    /// The version of this build.
    static let language: UInt8 = 1

    /// The sender has started or reconnected. Each receiver answers with all its rooms.
    case hello
    /// The members of these rooms on the sending daemon. This report replaces the members reported before.
    case members([Members], place: Place, number: UInt64)
    /// The sender knows that the receiver has members in these rooms. From now on, the sender sends all its ales in
    /// these rooms to the receiver, beginning with these numbers.
    case counting([Count])
    /// Numbered plain ales in rooms: see ``Ales``.
    case ales([Ales])
    /// Numbered ales of any kind in rooms.
    case cheers([Ales])
    /// The number of ``members(_:place:number:)`` that the sender has sent to everyone so far.
    case pulse(number: UInt64)
    /// The sending daemon ends. Its people may come back through other daemons.
    case goodbye
    /// A message that a daemon sends to itself, to measure the delay of the bus.
    case echo(sentAt: UInt64)

    struct Members: Equatable, Sendable {
        let room: UUID
        /// The number of the next ale in the room.
        let next: UInt64
        let members: RoomMembers
    }

    struct Count: Equatable, Sendable {
        let room: UUID
        /// The number of the next ale in the room.
        let next: UInt64
    }

    /// A number of consecutive ales, and the number of the first.
    struct Ales: Equatable, Sendable {
        let room: UUID
        let first: UInt64
        let count: UInt32
        var kind = CheerKind.plain
    }

    /// The position of a message in a list of all rooms.
    struct Place: OptionSet, Sendable {
        let rawValue: UInt8
        static let first = Place(rawValue: 1)
        static let last = Place(rawValue: 2)
        /// Part of a list of all rooms.
        static let whole = Place(rawValue: 4)
    }

    enum Failure: Error, Equatable {
        /// A version that this build doesn't know.
        case language(UInt8)
        /// A kind that this build doesn't know.
        case kind(UInt8)
        case malformed
    }

    private enum Kind: UInt8 {
        case hello = 1
        case members, counting, ales, pulse, goodbye, echo, cheers
        /// Members of rooms, at least one of which has more people than are named.
        case crowds
    }

    // MARK: To bytes

    var bytes: [UInt8] {
        var writer = PacketWriter()
        writer.add(Self.language)
        writer.add(kind.rawValue)
        switch self {
        case .hello, .goodbye: break
        case .pulse(let number): writer.add(number)
        case .echo(let sentAt): writer.add(sentAt)
        case .members(let rooms, let place, let number):
            writer.add(place.rawValue)
            writer.add(number)
            for room in rooms { writer.add(room, asCrowd: kind == .crowds) }
        case .counting(let rooms):
            for room in rooms {
                writer.add(room.room)
                writer.add(room.next)
            }
        case .ales(let rooms):
            for room in rooms {
                writer.add(room.room)
                writer.add(room.first)
                writer.add(room.count)
            }
        case .cheers(let rooms):
            for room in rooms {
                writer.add(room.room)
                writer.add(room.first)
                writer.add(room.count)
                writer.add(room.kind.rawValue)
            }
        }
        return writer.bytes
    }

    private var kind: Kind {
        switch self {
        case .hello: .hello
        case .members(let rooms, _, _): rooms.contains { $0.isCrowd } ? .crowds : .members
        case .counting: .counting
        case .ales: .ales
        case .cheers: .cheers
        case .pulse: .pulse
        case .goodbye: .goodbye
        case .echo: .echo
        }
    }

    // MARK: From bytes

    init(_ bytes: [UInt8]) throws(Failure) {
        var reader = PacketReader(bytes)
        let language = try reader.byte()
        guard language == Self.language else { throw .language(language) }
        let number = try reader.byte()
        guard let kind = Kind(rawValue: number) else { throw .kind(number) }
        switch kind {
        case .hello: self = .hello
        case .goodbye: self = .goodbye
        case .pulse: self = .pulse(number: try reader.number())
        case .echo: self = .echo(sentAt: try reader.number())
        case .members, .crowds:
            let place = Place(rawValue: try reader.byte())
            let number: UInt64 = try reader.number()
            var rooms: [Members] = []
            while !reader.isAtEnd { rooms.append(try reader.members(asCrowd: kind == .crowds)) }
            self = .members(rooms, place: place, number: number)
        case .counting:
            var rooms: [Count] = []
            while !reader.isAtEnd { rooms.append(Count(room: try reader.room(), next: try reader.number())) }
            self = .counting(rooms)
        case .ales:
            var rooms: [Ales] = []
            while !reader.isAtEnd {
                rooms.append(try reader.ales())
            }
            self = .ales(rooms)
        case .cheers:
            var rooms: [Ales] = []
            while !reader.isAtEnd {
                var ales = try reader.ales()
                // Only a newer build knows this kind of cheer.
                ales.kind = CheerKind(rawValue: try reader.byte()) ?? .plain
                rooms.append(ales)
            }
            self = .cheers(rooms)
        }
    }
}

extension RelayMessage.Members {
    /// The maximum number of people named in a room; further people are only counted. No match's room and no question
    /// session of the default size reaches this number, even with people who have just left and may come back.
    static let peopleLimit = 16_384

    var isCrowd: Bool { members.unnamed > 0 || members.people.count > Self.peopleLimit }

    /// The encoded size in bytes.
    var size: Int { 16 + 8 + 4 + 4 + 2 + 16 * min(members.people.count, Self.peopleLimit) + (isCrowd ? 4 : 0) }
}

extension PacketWriter {
    fileprivate mutating func add(_ room: RelayMessage.Members, asCrowd: Bool) {
        let members = room.members.naming(atMost: RelayMessage.Members.peopleLimit)
        add(room.room)
        add(room.next)
        add(UInt32(clamping: members.connections))
        add(UInt32(clamping: members.anonymous))
        add(UInt16(members.people.count))
        for person in members.people { add(person) }
        if asCrowd { add(UInt32(clamping: members.unnamed)) }
    }
}

extension PacketReader {
    fileprivate mutating func ales() throws(RelayMessage.Failure) -> RelayMessage.Ales {
        let ales = RelayMessage.Ales(room: try room(), first: try number(), count: try number())
        guard ales.first <= .max - UInt64(ales.count) else { throw .malformed }
        return ales
    }

    fileprivate mutating func members(asCrowd: Bool) throws(RelayMessage.Failure) -> RelayMessage.Members {
        let id = try room()
        let next: UInt64 = try number()
        let connections: UInt32 = try number()
        let anonymous: UInt32 = try number()
        let count: UInt16 = try number()
        var people: Set<UUID> = []
        for _ in 0..<count { people.insert(try room()) }
        let unnamed: UInt32 = asCrowd ? try number() : 0
        return RelayMessage.Members(
            room: id, next: next,
            members: RoomMembers(
                connections: Int(connections), anonymous: Int(anonymous), people: people, unnamed: Int(unnamed)))
    }
}
