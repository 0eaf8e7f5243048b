import Basics
import FoundationEssentials

/// The state of the other daemons, as they have reported it: the members of their rooms, and the numbers of their next
/// ales.
struct OtherDaemons {
    private struct Other {
        /// The daemon's rooms with members.
        var rooms: [UUID: RoomMembers] = [:]
        /// The number of the next ale in each room with members here. A number is missing until the first ale is
        /// received or announced.
        var numbers: [UUID: UInt64] = [:]
        var news = News.unknown
        /// The rooms of a list that is being received.
        var listed: Set<UUID> = []
        /// The number of this daemon's beats since the last packet of that daemon.
        var silence = 0
        /// The time until which the daemon's named people count as present after the daemon has announced its end
        /// (``RelayMessage/goodbye``). These people may reconnect to another daemon. `nil` before that announcement.
        var departsAt: MonotonicTime?
    }

    /// The state of a daemon's reports about its rooms.
    private enum News {
        /// Nothing was received, or a report is missing.
        case unknown
        /// A list of all rooms was requested.
        case asked
        /// A list of all rooms is being received.
        case listing(number: UInt64)
        /// Everything up to this number was received.
        case complete(UInt64)
    }

    /// The number of silent beats after which a daemon counts as gone, although the bus delivers our own packets. A
    /// live daemon sends something in each beat. This also detects daemons whose row in the database is missing or
    /// lost.
    private static let longestSilence = 15

    private var daemons: [DaemonID: Other] = [:]
    /// The daemons with members in each room.
    private var interest: [UUID: [DaemonID]] = [:]

    /// Returns the daemons with members in a room.
    func interested(in room: UUID) -> [DaemonID] { interest[room] ?? [] }

    func isInterested(_ daemon: DaemonID, in room: UUID) -> Bool {
        (daemons[daemon]?.rooms[room]?.connections ?? 0) > 0
    }

    /// Returns the members of a room on all other daemons together.
    func members(of room: UUID) -> RoomMembers {
        var sum = RoomMembers()
        for other in daemons.values { if let members = other.rooms[room] { sum.add(members) } }
        return sum
    }

    // MARK: Rooms

    /// Adds a daemon that has started or reconnected.
    mutating func add(_ daemon: DaemonID) {
        daemons[daemon, default: Other()].departsAt = nil
    }

    /// - Returns: The number of the daemon's ales that were never received.
    mutating func set(_ room: RelayMessage.Members, of daemon: DaemonID) -> UInt64 {
        // The value is removed from the dictionary while this method changes it. Its tables then have one owner, so
        // Swift doesn't copy them for each room.
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

    // MARK: Missing reports

    /// Handles the number of a message about rooms.
    ///
    /// - Returns: Whether all earlier messages were received or requested.
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
        // The report is older than the list.
        case .complete(let last) where number <= last:
            return true
        case .complete, .unknown:
            other.news = .asked
            return false
        case .asked, .listing:
            return true
        }
    }

    /// Handles a pulse: the number of messages about rooms that the daemon has sent to everyone.
    ///
    /// - Returns: Whether all of these messages were received.
    mutating func isUpToDate(with daemon: DaemonID, _ number: UInt64) -> Bool {
        var other = daemons[daemon] ?? Other()
        defer { daemons[daemon] = other }
        if case .complete(number) = other.news { return true }
        other.news = .asked
        return false
    }

    /// Ends the list of all rooms of a daemon.
    ///
    /// - Returns: The rooms that aren't on the list any more, although no message said that the daemon left them.
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

    /// Drops the numbers of a room without members here, because its ales no longer arrive.
    mutating func removeNumbers(of room: UUID) {
        for daemon in interested(in: room) { daemons[daemon]?.numbers[room] = nil }
    }

    /// Handles the announcement of a daemon that it sends its ales in a room to this daemon, beginning with this
    /// number.
    ///
    /// - Returns: The number of earlier ales that were never received.
    mutating func expect(_ next: UInt64, in room: UUID, of daemon: DaemonID) -> UInt64 {
        let expected = daemons[daemon]?.numbers.updateValue(next, forKey: room)
        return expected.map { Self.gap(from: $0, to: next) } ?? 0
    }

    /// - Returns: The number of new ales, and of earlier ales that were never received.
    mutating func receive(_ ales: RelayMessage.Ales, from daemon: DaemonID) -> (count: UInt32, lost: UInt64) {
        let end = ales.first + UInt64(ales.count)
        let expected = daemons[daemon, default: Other()].numbers.updateValue(end, forKey: ales.room) ?? ales.first
        return (ales.count, Self.gap(from: expected, to: ales.first))
    }

    /// A number that is smaller than expected belongs to a new room with the same id. Numbers from outside are bounded,
    /// so that sums don't overflow.
    private static func gap(from expected: UInt64, to number: UInt64) -> UInt64 {
        number > expected ? min(number - expected, 1 << 32) : 0
    }

    // MARK: Ends

    /// Records that a daemon is alive.
    mutating func markAlive(_ daemon: DaemonID) {
        daemons[daemon]?.silence = 0
    }

    /// Handles the announcement of a daemon that it ends. Its rooms have no connections any more. The named people in
    /// them count as present until `end`, because they may reconnect to another daemon.
    ///
    /// - Returns: The daemon's rooms.
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

    /// Handles a beat of this daemon.
    ///
    /// - Parameter isReceiving: Whether the bus is connected and delivers packets. Silence counts only then.
    /// - Returns: The rooms of ended daemons whose grace is over, and the rooms of daemons that were silent for too
    ///   long.
    mutating func expire(at now: MonotonicTime, isReceiving: Bool) -> Set<UUID> {
        var rooms: Set<UUID> = []
        for (daemon, other) in daemons {
            daemons[daemon]?.silence = isReceiving ? other.silence + 1 : 0
            let isOver = other.departsAt.map { $0 <= now } ?? (isReceiving && other.silence >= Self.longestSilence)
            if isOver { rooms.formUnion(drop(daemon)) }
        }
        return rooms
    }

    /// Whether the daemon has sent something since the last beat, and hasn't announced its end.
    func speaks(_ daemon: DaemonID) -> Bool {
        daemons[daemon].map { $0.silence == 0 && $0.departsAt == nil } ?? false
    }

    /// Removes a daemon that has ended. If the daemon announced its end, the people in its rooms still count until the
    /// grace is over.
    ///
    /// - Returns: The daemon's rooms.
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
