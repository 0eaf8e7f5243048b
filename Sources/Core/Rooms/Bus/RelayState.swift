import Basics
import FoundationEssentials

/// A daemon's knowledge of the other daemons' rooms, and of the messages that it has sent them. This value decides what
/// is sent, and how received packets are handled. ``BusRelay`` calls it.
///
/// ```
/// | the bus     | own news                                  | received packets |
/// |-------------|-------------------------------------------|------------------|
/// | unavailable | ales are numbered and dropped, rooms kept | none             |
/// | connected   | sent in `nextBatch()`                     | handled          |
/// ```
///
/// The first batch after ``busConnected()`` greets the other daemons and lists all rooms. The ales of each room are
/// numbered. A receiver counts missing numbers as lost ales.
struct RelayState {
    /// The packets to send next.
    struct Batch: Equatable {
        var packets: [BusPacket] = []
        /// The number of ales in each of the first packets.
        var ales: [UInt32] = []
        /// The number of ales that were dropped because the bus is unavailable or too slow.
        var dropped: UInt64 = 0

        var isEmpty: Bool { packets.isEmpty && dropped == 0 }
    }

    /// The effects of a received packet.
    struct Effects: Equatable {
        var ales: [RoomNews.Ales] = []
        /// Rooms whose members on other daemons have changed.
        var changed: Set<UUID> = []
        /// The number of other daemons' ales that this daemon never received.
        var lost: UInt64 = 0
        /// The daemons that have listed all their rooms.
        var introduced: Set<DaemonID> = []
        /// The time at which a returned echo was sent.
        var echoSentAt: UInt64?
    }

    private struct OwnRoom {
        var members: RoomMembers
        /// The number of the room's next ale.
        var next: UInt64 = 1
    }

    private struct Cheer: Hashable {
        let room: UUID
        let kind: CheerKind
    }

    private enum Connection {
        case unavailable
        /// A greeting and all rooms must be sent again.
        case greeting
        case connected
    }

    /// The maximum number of a room's ales in one batch. Other daemons can send this number without a pause to a peer
    /// that reads. Older ales are dropped.
    static let alesAtOnce: UInt32 = 1_000

    private let id: DaemonID
    private let packetSize: Int
    private let grace: Duration
    private var connection = Connection.unavailable
    private var rooms: [UUID: OwnRoom] = [:]
    /// The rooms that changed since the last batch.
    private var changed: Set<UUID> = []
    private var ales: [Cheer: UInt32] = [:]
    /// The number of reports about rooms sent to everyone so far.
    private var number: UInt64 = 0
    private var others = OtherDaemons()
    /// The daemons that must receive all rooms.
    private var uninformed: Set<DaemonID> = []
    /// The daemons that must be asked for all their rooms, because one of their reports is missing.
    private var asked: Set<DaemonID> = []
    /// For each daemon, the rooms whose next numbers must be sent to it.
    private var owedCounts: [DaemonID: Set<UUID>] = [:]
    /// The time at which the pulse became due; `nil` if no pulse is due.
    private var pulse: MonotonicTime?

    /// - Parameter grace: How long the people of a stopped daemon count as present.
    init(id: DaemonID, packetSize: Int, grace: Duration) {
        self.id = id
        self.packetSize = packetSize
        self.grace = grace
    }

    /// Returns the members of a room on all other daemons together.
    func membersElsewhere(of room: UUID) -> RoomMembers { others.members(of: room) }

    // MARK: The bus

    var isConnected: Bool {
        if case .unavailable = connection { false } else { true }
    }

    mutating func busConnected() {
        connection = .greeting
    }

    mutating func busLost() {
        connection = .unavailable
    }

    /// Sends all rooms again. Either packets of a batch were lost, or the other daemons have removed this daemon.
    mutating func announceAgain() {
        if case .connected = connection { connection = .greeting }
    }

    /// Handles the periodic beat, after which the others can detect missing packets.
    ///
    /// - Parameter isAnswered: Whether the last beat's echo has come back. A bus that is connected but delivers nothing
    ///   doesn't deliver the others' packets either, so their silence doesn't count.
    mutating func beat(at now: MonotonicTime, isAnswered: Bool) -> Effects {
        pulse = now
        var effects = Effects()
        effects.changed = others.expire(at: now, isReceiving: isConnected && isAnswered)
        return effects
    }

    // MARK: This daemon's rooms

    mutating func take(_ news: RoomNews) {
        for changed in news.members {
            self.changed.insert(changed.room)
            if (rooms[changed.room]?.members.connections ?? 0) == 0, changed.members.connections > 0 {
                // A daemon that didn't know of members here doesn't know the number of the next ale either.
                for daemon in others.interested(in: changed.room) {
                    owedCounts[daemon, default: []].insert(changed.room)
                }
            }
            // An empty room is removed after the report that it is empty.
            rooms[changed.room, default: OwnRoom(members: changed.members)].members = changed.members
            if changed.members.connections == 0 { others.removeNumbers(of: changed.room) }
        }
        for ales in news.ales {
            guard rooms[ales.room] != nil, !others.interested(in: ales.room).isEmpty else { continue }
            let cheer = Cheer(room: ales.room, kind: ales.kind)
            let sum = self.ales[cheer, default: 0].addingReportingOverflow(ales.count)
            self.ales[cheer] = sum.overflow ? .max : sum.partialValue
        }
    }

    // MARK: Received packets

    /// - Throws: If the packet has another version or is damaged. Such a packet has no effect.
    mutating func receive(
        _ bytes: [UInt8], from daemon: DaemonID, at now: MonotonicTime
    ) throws(RelayMessage.Failure) -> Effects {
        var effects = Effects()
        let message = try RelayMessage(bytes)
        defer { others.markAlive(daemon) }
        switch message {
        case .echo(let sentAt):
            effects.echoSentAt = sentAt
        case .hello:
            others.add(daemon)
            uninformed.insert(daemon)
        case .members(let list, let place, let number):
            if !others.follows(number, place, from: daemon) { asked.insert(daemon) }
            for room in list {
                let wasInterested = others.isInterested(daemon, in: room.room)
                effects.lost += others.set(room, of: daemon)
                effects.changed.insert(room.room)
                let isNew = !wasInterested && room.members.connections > 0
                if isNew, rooms[room.room] != nil { owedCounts[daemon, default: []].insert(room.room) }
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
                let (count, lost) = others.receive(ales, from: daemon)
                effects.lost += lost
                if count > 0 { effects.ales.append(RoomNews.Ales(ales.room, count, ales.kind)) }
            }
        case .pulse(let number):
            if !others.isUpToDate(with: daemon, number) { asked.insert(daemon) }
        case .goodbye:
            effects.changed = others.depart(daemon, until: now + grace)
        }
        return effects
    }

    /// Removes daemons that have ended, according to the database. A daemon that was just active may have come back, so
    /// it is asked for its rooms.
    mutating func remove(_ daemons: some Sequence<DaemonID>) -> Effects {
        var effects = Effects()
        for daemon in daemons {
            if others.speaks(daemon) {
                asked.insert(daemon)
            } else {
                asked.remove(daemon)
                uninformed.remove(daemon)
            }
            effects.changed.formUnion(others.remove(daemon))
            owedCounts[daemon] = nil
        }
        return effects
    }

    // MARK: Packets to send

    /// Returns the packets for all news since the last batch. Send them before the next call.
    mutating func nextBatch() -> Batch {
        var batch = Batch()
        let ales = numberAles(&batch.dropped)
        switch connection {
        case .unavailable:
            removeEmptyRooms()
            for (_, ales) in ales { batch.dropped += UInt64(ales.count) }
            return batch
        case .greeting:
            connection = .connected
            removeEmptyRooms()
            send(ales, &batch)
            // The list also answers greetings and requests. A daemon that misses the list detects the missing number.
            number += 1
            batch.packets.append(BusPacket(to: .everyDaemon, RelayMessage.hello.bytes))
            appendAllRooms(to: .everyDaemon, &batch.packets)
            uninformed = []
            asked = []
        case .connected:
            send(ales, &batch)
            appendChangedRooms(&batch.packets)
        }
        for daemon in asked { batch.packets.append(BusPacket(to: .daemon(daemon), RelayMessage.hello.bytes)) }
        asked = []
        for daemon in uninformed { appendAllRooms(to: .daemon(daemon), &batch.packets) }
        uninformed = []
        appendCounts(&batch.packets)
        if let pulse {
            self.pulse = nil
            batch.packets.append(BusPacket(to: .everyDaemon, RelayMessage.pulse(number: number).bytes))
            batch.packets.append(BusPacket(to: .daemon(id), RelayMessage.echo(sentAt: pulse.nanoseconds).bytes))
        }
        return batch
    }

    /// Returns the last batch of a daemon that ends. See ``nextBatch()``.
    mutating func lastBatch() -> Batch {
        var batch = nextBatch()
        batch.packets.append(BusPacket(to: .everyDaemon, RelayMessage.goodbye.bytes))
        return batch
    }

    /// Removes empty rooms. These rooms have been reported as empty, or are missing in the list of all rooms.
    private mutating func removeEmptyRooms() {
        for room in changed where rooms[room]?.members.isEmpty == true { rooms[room] = nil }
        changed.removeAll(keepingCapacity: true)
    }

    /// Numbers the ales since the last batch, and returns them with their receivers.
    private mutating func numberAles(_ dropped: inout UInt64) -> [(receivers: [DaemonID], RelayMessage.Ales)] {
        var numbered: [(receivers: [DaemonID], RelayMessage.Ales)] = []
        for (cheer, count) in ales {
            let receivers = others.interested(in: cheer.room)
            guard let next = rooms[cheer.room]?.next, !receivers.isEmpty else { continue }
            rooms[cheer.room]?.next = next + UInt64(count)
            let sent = min(count, Self.alesAtOnce)
            dropped += UInt64(count - sent)
            let ales = RelayMessage.Ales(
                room: cheer.room, first: next + UInt64(count - sent), count: sent, kind: cheer.kind)
            numbered.append((receivers, ales))
        }
        ales.removeAll(keepingCapacity: true)
        return numbered
    }

    private func send(_ ales: [(receivers: [DaemonID], RelayMessage.Ales)], _ batch: inout Batch) {
        for (receivers, ales) in ales {
            let message = ales.kind == .plain ? RelayMessage.ales([ales]) : .cheers([ales])
            batch.packets.append(BusPacket(to: .room(ales.room, of: receivers), message.bytes))
            batch.ales.append(ales.count)
        }
    }

    /// Reports the rooms with changed members. The report follows the ales, so that the numbers in it are up to date.
    private mutating func appendChangedRooms(_ packets: inout [BusPacket]) {
        guard !changed.isEmpty else { return }
        for list in split(changed.compactMap(entry)) {
            number += 1
            packets.append(
                BusPacket(to: .everyDaemon, RelayMessage.members(list, place: [], number: number).bytes))
        }
        removeEmptyRooms()
    }

    /// Reports all rooms.
    private mutating func appendAllRooms(to destination: BusPacket.Destination, _ packets: inout [BusPacket]) {
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

    /// Splits the rooms into lists of about the size of a packet. Returns at least one list.
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

    private mutating func appendCounts(_ packets: inout [BusPacket]) {
        for (daemon, owed) in owedCounts {
            let counts = owed.compactMap { room in
                rooms[room].map { RelayMessage.Count(room: room, next: $0.next) }
            }
            // The encoded count of a room takes at most 24 bytes.
            let perPacket = max(1, packetSize / 24)
            for start in stride(from: 0, to: counts.count, by: perPacket) {
                let part = Array(counts[start..<min(counts.count, start + perPacket)])
                packets.append(BusPacket(to: .daemon(daemon), RelayMessage.counting(part).bytes))
            }
        }
        owedCounts = [:]
    }
}
