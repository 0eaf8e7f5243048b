import FoundationEssentials

/// What daemons say to each other over the bus: bytes to values and back.
///
/// The first byte is the language, the second the kind; numbers are little-endian. Kinds that a daemon doesn't know it ignores, so that a
/// newer build may add some; whatever else changes is a new language.
enum RelayMessage: Equatable, Sendable {
    /// What this build speaks.
    static let language: UInt8 = 1

    /// The sender has come, or come back: whoever hears it tells it all that it has.
    case hello
    /// Who is in these rooms of the sender, instead of what it said before.
    case members([Members], place: Place, number: UInt64)
    /// The sender knows that the receiver has somebody in these rooms: of the ales in them, it tells it all from these numbers on.
    case counting([Count])
    /// Ales in rooms, numbered: see ``Ales``. Plain ones.
    case ales([Ales])
    /// The same of any kind.
    case cheers([Ales])
    /// How many ``members(_:place:number:)`` the sender has told everybody so far.
    case pulse(number: UInt64)
    /// The sender ends; its people may be coming back.
    case farewell
    /// To oneself: measures how long the bus takes.
    case echo(sentAt: UInt64)

    struct Members: Equatable, Sendable {
        let room: UUID
        /// The number of the next ale there.
        let next: UInt64
        let members: RoomMembers
    }

    struct Count: Equatable, Sendable {
        let room: UUID
        /// The number of the next ale there.
        let next: UInt64
    }

    /// So many ales, of which the first has a number; the others follow it.
    struct Ales: Equatable, Sendable {
        let room: UUID
        let first: UInt64
        let count: UInt32
        var kind = CheerKind.plain
    }

    /// Where a message stands in a list of all rooms.
    struct Place: OptionSet, Sendable {
        let rawValue: UInt8
        static let first = Place(rawValue: 1)
        static let last = Place(rawValue: 2)
        /// Part of a list of all.
        static let whole = Place(rawValue: 4)
    }

    enum Failure: Error, Equatable {
        /// Another build's.
        case language(UInt8)
        /// A kind that this build doesn't know.
        case kind(UInt8)
        case malformed
    }

    private enum Kind: UInt8 {
        case hello = 1
        case members, counting, ales, pulse, farewell, echo, cheers
        /// Members of rooms of which one is too full for all to be named.
        case crowds
    }

    // MARK: To bytes

    var bytes: [UInt8] {
        var writer = PacketWriter()
        writer.add(Self.language)
        writer.add(kind.rawValue)
        switch self {
        case .hello, .farewell: break
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
        case .farewell: .farewell
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
        case .farewell: self = .farewell
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
                // One that a newer build knows.
                ales.kind = CheerKind(rawValue: try reader.byte()) ?? .plain
                rooms.append(ales)
            }
            self = .cheers(rooms)
        }
    }
}

extension RelayMessage.Members {
    /// Those beyond aren't named, but counted: in a room that is fuller than any match's, and than a session of questions of so many
    /// sockets as its size is by default, with all who have left them a moment ago.
    static let peopleLimit = 16_384

    var isCrowd: Bool { members.unnamed > 0 || members.people.count > Self.peopleLimit }

    /// How long it is, in bytes.
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
