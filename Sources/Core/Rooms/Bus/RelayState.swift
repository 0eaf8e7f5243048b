import Basics
import FoundationEssentials

/// What a daemon knows of the others' rooms, and has told them of its own: decides what is sent, and what is made of what comes.
/// ``BusRelay`` drives it.
///
/// | this daemon, and the bus | its own news                                   | what comes    |
/// |--------------------------|------------------------------------------------|---------------|
/// | away                     | ales are numbered and dropped, rooms kept      | nothing       |
/// | connected                | sent in ``nextBatch()``                        | taken         |
///
/// The first batch after ``busConnected()`` says hello and tells all rooms. Ales have numbers, room by room: what is missing between them
/// was lost, and is counted by who misses it.
struct RelayState {
    /// What is to be told next.
    struct Batch: Equatable {
        var packets: [BusPacket] = []
        /// In each of the first packets.
        var ales: [UInt32] = []
        /// Given up, because the bus is away, or has been slow for too long.
        var dropped: UInt64 = 0

        var isEmpty: Bool { packets.isEmpty && dropped == 0 }
    }

    /// What becomes of what came.
    struct Effects: Equatable {
        var ales: [RoomNews.Ales] = []
        /// Rooms whose members elsewhere are others now.
        var changed: Set<UUID> = []
        /// Ales that others said, and this daemon never heard.
        var lost: UInt64 = 0
        /// Those that have told all their rooms.
        var introduced: Set<DaemonID> = []
        /// When an echo was sent that has come back.
        var echoSentAt: UInt64?
    }

    private struct OwnRoom {
        var members: RoomMembers
        /// The number of its next ale.
        var next: UInt64 = 1
    }

    private struct Cheer: Hashable {
        let room: UUID
        let kind: CheerKind
    }

    private enum Connection {
        case away
        /// Everything is to be told once more.
        case greeting
        case connected
    }

    /// Of a room, in one batch: what the others can pass on at once to peers that read. The older ones are given up.
    static let alesAtOnce: UInt32 = 1_000

    private let id: DaemonID
    private let packetSize: Int
    private let grace: Duration
    private var connection = Connection.away
    private var rooms: [UUID: OwnRoom] = [:]
    /// Since the last batch.
    private var changed: Set<UUID> = []
    private var ales: [Cheer: UInt32] = [:]
    /// How often everybody was told who is in rooms.
    private var number: UInt64 = 0
    private var others = OtherDaemons()
    /// To be told all rooms.
    private var ignorant: Set<DaemonID> = []
    /// To be asked for all of theirs: something of what they told is missing.
    private var asked: Set<DaemonID> = []
    /// To be told that they are told all that is said in these rooms.
    private var toldCounts: [DaemonID: Set<UUID>] = [:]
    /// Since when a pulse is to be sent.
    private var pulse: MonotonicTime?

    /// - Parameter grace: How long the people of a daemon that ends count as present.
    init(id: DaemonID, packetSize: Int, grace: Duration) {
        self.id = id
        self.packetSize = packetSize
        self.grace = grace
    }

    /// Who is in a room on other daemons, all of them together.
    func membersElsewhere(of room: UUID) -> RoomMembers { others.members(of: room) }

    // MARK: The bus

    var isConnected: Bool {
        if case .away = connection { false } else { true }
    }

    mutating func busConnected() {
        connection = .greeting
    }

    mutating func busLost() {
        connection = .away
    }

    /// The last batch was lost, perhaps in part, or others have forgotten it.
    mutating func introduceAgain() {
        if case .connected = connection { connection = .greeting }
    }

    /// From time to time, so that who missed something notices.
    ///
    /// - Parameter isAnswered: Whether the echo of the beat before has come back. A bus that stands and takes nothing brings nothing of the
    ///   others either: their silence says nothing of them.
    mutating func beat(at now: MonotonicTime, isAnswered: Bool) -> Effects {
        pulse = now
        var effects = Effects()
        effects.changed = others.expire(at: now, hearing: isConnected && isAnswered)
        return effects
    }

    // MARK: This daemon's rooms

    mutating func take(_ news: RoomNews) {
        for changed in news.members {
            self.changed.insert(changed.room)
            if (rooms[changed.room]?.members.connections ?? 0) == 0, changed.members.connections > 0 {
                // Who knew of nobody here till now doesn't know either from which number on it should hear.
                for daemon in others.interested(in: changed.room) {
                    toldCounts[daemon, default: []].insert(changed.room)
                }
            }
            // Those who have all left are taken out once that is told.
            rooms[changed.room, default: OwnRoom(members: changed.members)].members = changed.members
            if changed.members.connections == 0 { others.forgetNumbers(of: changed.room) }
        }
        for ales in news.ales {
            guard rooms[ales.room] != nil, !others.interested(in: ales.room).isEmpty else { continue }
            let cheer = Cheer(room: ales.room, kind: ales.kind)
            let sum = self.ales[cheer, default: 0].addingReportingOverflow(ales.count)
            self.ales[cheer] = sum.overflow ? .max : sum.partialValue
        }
    }

    // MARK: What came

    /// - Throws: When it can't be read: another language, or a damaged packet. It is as if it had not come.
    mutating func receive(
        _ bytes: [UInt8], from daemon: DaemonID, at now: MonotonicTime
    ) throws(RelayMessage.Failure) -> Effects {
        var effects = Effects()
        let message = try RelayMessage(bytes)
        defer { others.heard(from: daemon) }
        switch message {
        case .echo(let sentAt):
            effects.echoSentAt = sentAt
        case .hello:
            others.meet(daemon)
            ignorant.insert(daemon)
        case .members(let list, let place, let number):
            if !others.follows(number, place, from: daemon) { asked.insert(daemon) }
            for room in list {
                let wasInterested = others.isInterested(daemon, in: room.room)
                effects.lost += others.set(room, of: daemon)
                effects.changed.insert(room.room)
                let isNew = !wasInterested && room.members.connections > 0
                if isNew, rooms[room.room] != nil { toldCounts[daemon, default: []].insert(room.room) }
            }
            if place.contains(.last) {
                effects.changed.formUnion(others.endList(of: daemon))
                effects.introduced.insert(daemon)
            }
        case .counting(let counts):
            for count in counts where rooms[count.room] != nil {
                effects.lost += others.expect(count.next, in: count.room, of: daemon)
            }
        case .ales(let list), .cheers(let list):
            for ales in list where (rooms[ales.room]?.members.connections ?? 0) > 0 {
                let (count, lost) = others.hear(ales, from: daemon)
                effects.lost += lost
                if count > 0 { effects.ales.append(RoomNews.Ales(ales.room, count, ales.kind)) }
            }
        case .pulse(let number):
            if !others.isUpToDate(with: daemon, number) { asked.insert(daemon) }
        case .farewell:
            effects.changed = others.depart(daemon, until: now + grace)
        }
        return effects
    }

    /// Daemons that are no more, as the database has said. One that was heard just now is asked: it may have come back since.
    mutating func remove(_ daemons: some Sequence<DaemonID>) -> Effects {
        var effects = Effects()
        for daemon in daemons {
            if others.speaks(daemon) {
                asked.insert(daemon)
            } else {
                asked.remove(daemon)
                ignorant.remove(daemon)
            }
            effects.changed.formUnion(others.remove(daemon))
            toldCounts[daemon] = nil
        }
        return effects
    }

    // MARK: What is to be sent

    /// What there is to tell since the last one. To be sent before this is called again.
    mutating func nextBatch() -> Batch {
        var batch = Batch()
        let ales = numberAles(&batch.dropped)
        switch connection {
        case .away:
            forgetEmptyRooms()
            for (_, ales) in ales { batch.dropped += UInt64(ales.count) }
            return batch
        case .greeting:
            connection = .connected
            forgetEmptyRooms()
            send(ales, &batch)
            // Who said hello is answered by this as well, and who is to be asked too. Who misses it misses its number.
            number += 1
            batch.packets.append(BusPacket(to: .everyDaemon, RelayMessage.hello.bytes))
            tellAll(to: .everyDaemon, &batch.packets)
            ignorant = []
            asked = []
        case .connected:
            send(ales, &batch)
            tellChanges(&batch.packets)
        }
        for daemon in asked { batch.packets.append(BusPacket(to: .daemon(daemon), RelayMessage.hello.bytes)) }
        asked = []
        for daemon in ignorant { tellAll(to: .daemon(daemon), &batch.packets) }
        ignorant = []
        tellCounts(&batch.packets)
        if let pulse {
            self.pulse = nil
            batch.packets.append(BusPacket(to: .everyDaemon, RelayMessage.pulse(number: number).bytes))
            batch.packets.append(BusPacket(to: .daemon(id), RelayMessage.echo(sentAt: pulse.nanoseconds).bytes))
        }
        return batch
    }

    /// As ``nextBatch()``, of a daemon that ends.
    mutating func lastBatch() -> Batch {
        var batch = nextBatch()
        batch.packets.append(BusPacket(to: .everyDaemon, RelayMessage.farewell.bytes))
        return batch
    }

    /// Those who have all left are told of by now, or by the list of all.
    private mutating func forgetEmptyRooms() {
        for room in changed where rooms[room]?.members.isEmpty == true { rooms[room] = nil }
        changed.removeAll(keepingCapacity: true)
    }

    /// Those that were said since the last batch, and who is to hear them.
    private mutating func numberAles(_ dropped: inout UInt64) -> [(receivers: [DaemonID], RelayMessage.Ales)] {
        var numbered: [(receivers: [DaemonID], RelayMessage.Ales)] = []
        for (cheer, count) in ales {
            let receivers = others.interested(in: cheer.room)
            guard let next = rooms[cheer.room]?.next, !receivers.isEmpty else { continue }
            rooms[cheer.room]?.next = next + UInt64(count)
            let told = min(count, Self.alesAtOnce)
            dropped += UInt64(count - told)
            let ales = RelayMessage.Ales(
                room: cheer.room, first: next + UInt64(count - told), count: told, kind: cheer.kind)
            numbered.append((receivers, ales))
        }
        ales.removeAll(keepingCapacity: true)
        return numbered
    }

    private func send(_ ales: [(receivers: [DaemonID], RelayMessage.Ales)], _ batch: inout Batch) {
        for (receivers, ales) in ales {
            // What is plain an older build understands, too.
            let message = ales.kind == .plain ? RelayMessage.ales([ales]) : .cheers([ales])
            batch.packets.append(BusPacket(to: .room(ales.room, of: receivers), message.bytes))
            batch.ales.append(ales.count)
        }
    }

    /// Those rooms that somebody came to or left; after the ales, so that the numbers in it follow theirs.
    private mutating func tellChanges(_ packets: inout [BusPacket]) {
        guard !changed.isEmpty else { return }
        for list in split(changed.compactMap(entry)) {
            number += 1
            packets.append(
                BusPacket(to: .everyDaemon, RelayMessage.members(list, place: [], number: number).bytes))
        }
        forgetEmptyRooms()
    }

    /// All rooms, as they are.
    private mutating func tellAll(to destination: BusPacket.Destination, _ packets: inout [BusPacket]) {
        let lists = split(rooms.keys.compactMap(entry))
        for (index, list) in lists.enumerated() {
            var place = RelayMessage.Place.whole
            if index == 0 { place.insert(.first) }
            if index == lists.count - 1 { place.insert(.last) }
            packets.append(
                BusPacket(to: destination, RelayMessage.members(list, place: place, number: number).bytes))
        }
    }

    private func entry(_ room: UUID) -> RelayMessage.Members? {
        rooms[room].map { RelayMessage.Members(room: room, next: $0.next, members: $0.members) }
    }

    /// Into lists of about a packet each; one at least.
    private func split(_ rooms: [RelayMessage.Members]) -> [[RelayMessage.Members]] {
        var lists: [[RelayMessage.Members]] = [[]]
        var size = 0
        for room in rooms {
            size += room.size
            if size > packetSize, lists.last?.isEmpty == false {
                lists.append([])
                size = room.size
            }
            lists[lists.count - 1].append(room)
        }
        return lists
    }

    private mutating func tellCounts(_ packets: inout [BusPacket]) {
        for (daemon, told) in toldCounts {
            let counts = told.compactMap { room in
                rooms[room].map { RelayMessage.Count(room: room, next: $0.next) }
            }
            // A count is shorter than what is told of a room.
            let perPacket = max(1, packetSize / 24)
            for start in stride(from: 0, to: counts.count, by: perPacket) {
                let part = Array(counts[start..<min(counts.count, start + perPacket)])
                packets.append(BusPacket(to: .daemon(daemon), RelayMessage.counting(part).bytes))
            }
        }
        toldCounts = [:]
    }
}
