import Basics
import CLinux
import Glibc
import Wire

/// The baseline, which has only the cost of relaying ales. It has one thread and one epoll descriptor. It calls `recv`
/// once per readable socket, and `send` once per receiver and turn.
///
/// With a ``RelayBus``, it is the baseline of several servers on one database: the ales of its rooms also go to the
/// other relays.
///
/// It has no JSON, no limits and no time-outs. Of HTTP it has only a search for the room's id, and of WebSocket only
/// the splitting of frames. It trusts its peers, which belong to the load generator, and ends if they do anything
/// unexpected.
struct Relay: ~Copyable {
    private struct Peer {
        /// -1 before the upgrade.
        var room: Int32 = -1
        /// The peer's index among the room's members.
        var place: Int32 = 0
    }

    private static let eventsPerTurn = 512
    private static let bufferSize = 65_536
    /// The number of copies of the frame that one `send` can carry.
    private static let runLength = 2_730
    private static let pingInterval = Duration.seconds(3)

    private let listener: Int32
    private let poller: Int32
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Relay.eventsPerTurn)
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Relay.bufferSize, alignment: 16)
    private let run: UnsafeMutableRawPointer
    private let greeting: [UInt8]
    private let page: [UInt8]
    /// The peers by their sockets' descriptors.
    private let peers: UnsafeMutablePointer<Peer>
    private let peerCapacity: Int
    /// The rooms by their numbers. The memory is initialised up to `roomCount`.
    private let rooms: UnsafeMutablePointer<RelayRoom>
    private var roomCount: Int32 = 0
    private var freeRooms: [Int32] = []
    private var numbers: [RelayRoomKey: Int32] = [:]
    private var busyRooms: [Int32] = []
    private let bus: RelayBus?
    /// The time at which all peers are pinged next; `nil` if they are never pinged.
    private var nextPing: MonotonicTime?

    /// Serves the connections of a listening, non-blocking socket, which the relay owns from now on.
    init(listener: Int32, descriptors: Int, pings: Bool = false, bus: RelayBus? = nil) throws(BenchFailure) {
        let poller = epoll_create1(0)
        guard poller >= 0 else { throw BenchFailure(call: "epoll_create1") }
        for socket in [listener] + (bus?.sockets ?? []) { try Self.watch(socket, by: poller) }
        self.listener = listener
        self.poller = poller
        self.bus = bus
        nextPing = pings ? .now() + Self.pingInterval : nil
        run = LoadFrame.run(copies: Self.runLength)
        greeting = Array(LoadFrame.switchingProtocols.utf8) + LoadFrame.handshake
        page = Array(
            """
            HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 08:00:00 GMT\r\nContent-Type: application/json\r\n\
            Content-Length: 15\r\n\r\n{"status":"ok"}
            """.utf8)
        peerCapacity = descriptors
        peers = .allocate(capacity: descriptors)
        rooms = .allocate(capacity: descriptors)
    }

    deinit {
        events.deallocate()
        buffer.deallocate()
        run.deallocate()
        peers.deallocate()
        rooms.deinitialize(count: Int(roomCount))
        rooms.deallocate()
        close(poller)
        close(listener)
    }

    /// Serves until the process is killed.
    mutating func serve() throws -> Never {
        while true {
            let count = epoll_wait(poller, events, Int32(Self.eventsPerTurn), try ping())
            guard count >= 0 || errno == EINTR else { throw BenchFailure(call: "epoll_wait") }
            for index in 0..<Int(max(0, count)) {
                let descriptor = events[index].data.fd
                if descriptor == listener {
                    try accept()
                } else if let bus, bus.sockets.contains(descriptor) {
                    try bus.ready(descriptor) { room, ales in receive(ales, in: room) }
                } else {
                    try receive(from: descriptor)
                }
            }
            try bus?.send()
            for room in busyRooms { try flush(room) }
            busyRooms.removeAll(keepingCapacity: true)
        }
    }

    /// Pings all peers if a ping is due.
    ///
    /// - Returns: How long to wait for events, in milliseconds; -1 for no limit.
    private mutating func ping() throws(BenchFailure) -> Int32 {
        guard let due = nextPing else { return -1 }
        let left = due - MonotonicTime.now()
        guard left <= .zero else { return Int32(left / .milliseconds(1)) + 1 }
        nextPing = due + Self.pingInterval
        for number in 0..<Int(roomCount) {
            for member in rooms[number].members { try send(LoadFrame.cablePing, to: member.descriptor) }
        }
        return 0
    }

    private static func watch(_ descriptor: Int32, by poller: Int32) throws(BenchFailure) {
        var interest = epoll_event(events: EPOLLIN.rawValue, data: epoll_data(fd: descriptor))
        guard epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &interest) == 0 else {
            throw BenchFailure(call: "epoll_ctl")
        }
    }

    private mutating func accept() throws(BenchFailure) {
        while true {
            let descriptor = accept4(listener, nil, nil, Int32(SOCK_NONBLOCK.rawValue))
            guard descriptor >= 0 else {
                guard errno == EAGAIN else { throw BenchFailure(call: "accept4") }
                return
            }
            guard Int(descriptor) < peerCapacity else { throw BenchFailure("more descriptors than expected") }
            peers[Int(descriptor)] = Peer()
            try Self.watch(descriptor, by: poller)
        }
    }

    private mutating func receive(from descriptor: Int32) throws(BenchFailure) {
        let count = recv(descriptor, buffer, Self.bufferSize, 0)
        guard count > 0 else {
            leave(descriptor)
            close(descriptor)
            return
        }
        let number = peers[Int(descriptor)].room
        guard number >= 0 else { return try answer(descriptor, count) }
        var position = 0
        var ales = 0
        while position < count {
            // A short masked frame has two bytes, four bytes of mask, and the payload.
            guard position + 6 <= count else { throw BenchFailure("half a frame") }
            let length = Int(buffer.load(fromByteOffset: position + 1, as: UInt8.self) & 0x7F)
            guard length < 126, position + 6 + length <= count else { throw BenchFailure("no short frame") }
            let mask = buffer.loadUnaligned(fromByteOffset: position + 2, as: UInt32.self)
            unmask(position + 6, length, mask)
            if buffer.load(fromByteOffset: position, as: UInt8.self) == 0x81 { ales += 1 }
            position += 6 + length
        }
        guard ales > 0 else { return }
        let room = rooms + Int(number)
        if room.pointee.ales == 0 { busyRooms.append(number) }
        room.pointee.ales += ales
        room.pointee.members[Int(peers[Int(descriptor)].place)].own += ales
        bus?.add(ales, in: number)
    }

    /// Delivers ales that come from another relay.
    private mutating func receive(_ ales: Int, in number: Int32) {
        let room = rooms + Int(number)
        if room.pointee.ales == 0 { busyRooms.append(number) }
        room.pointee.ales += ales
    }

    private func unmask(_ start: Int, _ length: Int, _ mask: UInt32) {
        WebSocketMask(
            UInt8(truncatingIfNeeded: mask), UInt8(truncatingIfNeeded: mask >> 8),
            UInt8(truncatingIfNeeded: mask >> 16), UInt8(truncatingIfNeeded: mask >> 24)
        ).apply(to: UnsafeMutableRawBufferPointer(start: buffer + start, count: length))
    }

    /// Answers a request: with an upgrade to WebSocket if the path is `/socket` with a room's id, otherwise with a
    /// small page.
    private mutating func answer(_ descriptor: Int32, _ count: Int) throws(BenchFailure) {
        let prefix = "GET /socket?id=".utf8.count
        guard count > prefix + RelayRoomKey.length, buffer.load(fromByteOffset: 5, as: UInt8.self) == UInt8(ascii: "s")
        else { return try send(page, to: descriptor) }
        let key = RelayRoomKey(buffer + prefix)
        let number = if let known = numbers[key] { known } else { try newRoom(key) }
        let room = rooms + Int(number)
        peers[Int(descriptor)] = Peer(room: number, place: Int32(room.pointee.members.count))
        room.pointee.members.append(.init(descriptor: descriptor, own: room.pointee.ales))
        try send(greeting, to: descriptor)
    }

    private mutating func newRoom(_ key: RelayRoomKey) throws(BenchFailure) -> Int32 {
        let number: Int32
        if let free = freeRooms.popLast() {
            number = free
            rooms[Int(number)].key = key
        } else {
            number = roomCount
            roomCount += 1
            (rooms + Int(number)).initialize(to: RelayRoom(key: key))
        }
        numbers[key] = number
        if let bus {
            guard let id = key.id else { throw BenchFailure("a room without a UUID") }
            bus.register(number, id)
        }
        return number
    }

    private mutating func leave(_ descriptor: Int32) {
        let peer = peers[Int(descriptor)]
        guard peer.room >= 0 else { return }
        peers[Int(descriptor)] = Peer()
        let room = rooms + Int(peer.room)
        let last = room.pointee.members.removeLast()
        if last.descriptor != descriptor {
            room.pointee.members[Int(peer.place)] = last
            peers[Int(last.descriptor)].place = peer.place
        }
        guard room.pointee.members.isEmpty else { return }
        // The number of the room may still be queued in this turn, and a new room may reuse it. The new room has no
        // ales to send.
        room.pointee.ales = 0
        numbers[room.pointee.key] = nil
        freeRooms.append(peer.room)
    }

    /// Sends each member the ales of the room's turn.
    private func flush(_ number: Int32) throws {
        let room = rooms + Int(number)
        let ales = room.pointee.ales
        guard ales > 0 else { return }
        room.pointee.ales = 0
        try room.pointee.members.withUnsafeMutableBufferPointer { members in
            for index in members.indices {
                var bytes = (ales - members[index].own) * LoadFrame.aleResponseLength
                members[index].own = 0
                while bytes > 0 {
                    let part = min(bytes, Self.runLength * LoadFrame.aleResponseLength)
                    try sent(Glibc.send(members[index].descriptor, run, part, Int32(MSG_NOSIGNAL)), of: part)
                    bytes -= part
                }
            }
        }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) throws(BenchFailure) {
        try sent(Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)), of: bytes.count)
    }

    private func sent(_ count: Int, of wanted: Int) throws(BenchFailure) {
        // `recv` will handle the closed connection.
        if count < 0, errno == EPIPE || errno == ECONNRESET { return }
        guard count == wanted else { throw BenchFailure("a peer of the relay doesn't read") }
    }
}
