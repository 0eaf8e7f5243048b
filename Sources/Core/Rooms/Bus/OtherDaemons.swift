import Basics
import FoundationEssentials

/// The other daemons, as they have told: who of theirs is in which room, and which of their ales come next.
struct OtherDaemons {
    private struct Other {
        /// Those with somebody in them.
        var rooms: [UUID: RoomMembers] = [:]
        /// The number of the next ale, of rooms that somebody here is in; none before the first was heard, or announced.
        var numbers: [UUID: UInt64] = [:]
        var news = News.unknown
        /// Those in the list of all rooms that is coming.
        var listed: Set<UUID> = []
        /// Beats of this daemon since something came from that one.
        var silence = 0
        /// It has ended, and its people count until then.
        var departsAt: MonotonicTime?
    }

    /// What has come of what a daemon tells about its rooms.
    private enum News {
        /// Nothing, or something is missing.
        case unknown
        /// It was asked for all of it.
        case asked
        /// The list of all rooms is coming.
        case listing(number: UInt64)
        /// Everything up to this number.
        case complete(UInt64)
    }

    /// So many beats, with a bus that brings our own packets, and a daemon is taken for gone, though nobody says so: it has none of the
    /// database's rows, or lost its own. One that lives is heard at each.
    private static let longestSilence = 15

    private var daemons: [DaemonID: Other] = [:]
    /// Who has somebody in each room.
    private var interest: [UUID: [DaemonID]] = [:]

    /// Who has somebody in a room.
    func interested(in room: UUID) -> [DaemonID] { interest[room] ?? [] }

    func isInterested(_ daemon: DaemonID, in room: UUID) -> Bool {
        (daemons[daemon]?.rooms[room]?.connections ?? 0) > 0
    }

    /// Who is in a room, on all of them together.
    func members(of room: UUID) -> RoomMembers {
        var sum = RoomMembers()
        for other in daemons.values { if let members = other.rooms[room] { sum.add(members) } }
        return sum
    }

    // MARK: Rooms

    /// A daemon has come, or come back.
    mutating func meet(_ daemon: DaemonID) {
        daemons[daemon, default: Other()].departsAt = nil
    }

    /// - Returns: How many ales of the daemon were never heard.
    mutating func set(_ room: RelayMessage.Members, of daemon: DaemonID) -> UInt64 {
        // Taken out, so that its tables have one owner and aren't copied with each room.
        var other = daemons.removeValue(forKey: daemon) ?? Other()
        let wasInterested = (other.rooms[room.room]?.connections ?? 0) > 0
        other.rooms[room.room] = room.members.isEmpty ? nil : room.members
        if case .listing = other.news { other.listed.insert(room.room) }
        let lost = other.numbers[room.room].map { Self.gap(from: $0, to: room.next) } ?? 0
        if other.numbers[room.room] != nil {
            other.numbers[room.room] = room.members.connections > 0 ? room.next : nil
        }
        daemons[daemon] = other
        setInterest(of: daemon, in: room.room, from: wasInterested, to: room.members.connections > 0)
        return lost
    }

    private mutating func setInterest(of daemon: DaemonID, in room: UUID, from old: Bool, to new: Bool) {
        guard old != new else { return }
        if new { return interest[room, default: []].append(daemon) }
        interest[room]?.removeAll { $0 == daemon }
        if interest[room]?.isEmpty == true { interest[room] = nil }
    }

    // MARK: Whether something is missing

    /// A message about rooms has come.
    ///
    /// - Returns: Whether all before it has come too, or is on its way.
    mutating func follows(_ number: UInt64, _ place: RelayMessage.Place, from daemon: DaemonID) -> Bool {
        var other = daemons[daemon] ?? Other()
        defer { daemons[daemon] = other }
        guard !place.contains(.whole) else {
            if place.contains(.first) {
                other.news = .listing(number: number)
                other.listed = []
            }
            return true
        }
        switch other.news {
        case .complete(let last) where number == last &+ 1:
            other.news = .complete(number)
            return true
        // From before the list.
        case .complete(let last) where number <= last:
            return true
        case .complete, .unknown:
            other.news = .asked
            return false
        case .asked, .listing:
            return true
        }
    }

    /// The daemon has told everybody so often who is in rooms.
    ///
    /// - Returns: Whether all of it has come.
    mutating func isUpToDate(with daemon: DaemonID, _ number: UInt64) -> Bool {
        var other = daemons[daemon] ?? Other()
        defer { daemons[daemon] = other }
        if case .complete(number) = other.news { return true }
        other.news = .asked
        return false
    }

    /// All rooms of a daemon have been listed.
    ///
    /// - Returns: Those that it has left without a word that came.
    mutating func endList(of daemon: DaemonID) -> Set<UUID> {
        guard var other = daemons.removeValue(forKey: daemon) else { return [] }
        defer { daemons[daemon] = other }
        guard case .listing(let number) = other.news else { return [] }
        other.news = .complete(number)
        let left = Set(other.rooms.keys).subtracting(other.listed)
        other.listed = []
        for room in left {
            let members = other.rooms.removeValue(forKey: room)
            other.numbers[room] = nil
            setInterest(of: daemon, in: room, from: (members?.connections ?? 0) > 0, to: false)
        }
        return left
    }

    // MARK: Numbers

    /// Nobody here is in the room any more, so what is said there doesn't come.
    mutating func forgetNumbers(of room: UUID) {
        for daemon in interested(in: room) { daemons[daemon]?.numbers[room] = nil }
    }

    /// From this number on, all of the daemon's ales in a room are sent here.
    ///
    /// - Returns: How many were never heard.
    mutating func expect(_ next: UInt64, in room: UUID, of daemon: DaemonID) -> UInt64 {
        let expected = daemons[daemon]?.numbers.updateValue(next, forKey: room)
        return expected.map { Self.gap(from: $0, to: next) } ?? 0
    }

    /// - Returns: How many of these are new, and how many before them were never heard.
    mutating func hear(_ ales: RelayMessage.Ales, from daemon: DaemonID) -> (count: UInt32, lost: UInt64) {
        let end = ales.first + UInt64(ales.count)
        let expected = daemons[daemon, default: Other()].numbers.updateValue(end, forKey: ales.room) ?? ales.first
        return (ales.count, Self.gap(from: expected, to: ales.first))
    }

    /// A number that is smaller than the one expected is one of a room that began anew. What others say is bounded, so that sums hold.
    private static func gap(from expected: UInt64, to number: UInt64) -> UInt64 {
        number > expected ? min(number - expected, 1 << 32) : 0
    }

    // MARK: Ends

    /// A daemon lives.
    mutating func heard(from daemon: DaemonID) {
        daemons[daemon]?.silence = 0
    }

    /// A daemon ends. Nobody is in its rooms, but its people may be coming back until then.
    ///
    /// - Returns: The rooms that it was in.
    mutating func depart(_ daemon: DaemonID, until end: MonotonicTime) -> Set<UUID> {
        guard let other = daemons[daemon] else { return [] }
        var departed = Other()
        departed.departsAt = end
        for (room, members) in other.rooms {
            setInterest(of: daemon, in: room, from: members.connections > 0, to: false)
            if !members.people.isEmpty {
                departed.rooms[room] = RoomMembers(people: members.people, unnamed: members.unnamed)
            }
        }
        daemons[daemon] = departed
        return Set(other.rooms.keys)
    }

    /// A beat of this daemon.
    ///
    /// - Parameter hearing: Whether the bus stands, and brings what it is given. While it doesn't, nobody's silence counts.
    /// - Returns: The rooms whose people haven't come back, and those of daemons that were silent for too long.
    mutating func expire(at now: MonotonicTime, hearing: Bool) -> Set<UUID> {
        var rooms: Set<UUID> = []
        for (daemon, other) in daemons {
            daemons[daemon]?.silence = hearing ? other.silence + 1 : 0
            let isOver = other.departsAt.map { $0 <= now } ?? (hearing && other.silence >= Self.longestSilence)
            if isOver { rooms.formUnion(drop(daemon)) }
        }
        return rooms
    }

    /// Whether something has come from the daemon since the last beat, and no farewell.
    func speaks(_ daemon: DaemonID) -> Bool {
        daemons[daemon].map { $0.silence == 0 && $0.departsAt == nil } ?? false
    }

    /// A daemon is no more. The people of one that has said farewell are still awaited.
    ///
    /// - Returns: The rooms that the daemon was in.
    mutating func remove(_ daemon: DaemonID) -> Set<UUID> {
        daemons[daemon]?.departsAt == nil ? drop(daemon) : []
    }

    private mutating func drop(_ daemon: DaemonID) -> Set<UUID> {
        guard let other = daemons.removeValue(forKey: daemon) else { return [] }
        for (room, members) in other.rooms {
            setInterest(of: daemon, in: room, from: members.connections > 0, to: false)
        }
        return Set(other.rooms.keys)
    }
}
