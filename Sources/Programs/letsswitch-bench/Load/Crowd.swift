import FoundationEssentials
import Glibc
import Wire

/// Connected peers in rooms of equal size, in WebSockets of one server, or dealt over several; and what each of them sent and got.
///
/// Peer `p` is in room `p / roomSize`. Memory is raw, since the load's loops touch it once per message.
final class Crowd {
    /// Connections that wait for their answer at the same time, while a crowd gathers.
    private static let wave = 128

    let servers: [Server]
    /// The first, which is the only one but in a fleet.
    var server: Server { servers[0] }
    let roomSize: Int
    let roomCount: Int
    var peerCount: Int { roomSize * roomCount }
    /// Peers connected so far; a crowd may gather in steps.
    private(set) var connected = 0

    private let rooms: [String]
    private let offersCompression: Bool
    let sockets: UnsafeMutablePointer<Int32>
    /// The server that each peer is connected to, by its index.
    let home: UnsafeMutablePointer<Int>
    /// Ales' responses that came, by peer.
    let received: UnsafeMutablePointer<Int>
    /// Ales sent, by peer and by room.
    let sent: UnsafeMutablePointer<Int>
    let sentInRoom: UnsafeMutablePointer<Int>
    /// By room: `burst` ales, one behind the other.
    private let ales: UnsafeMutableRawPointer
    private let aleLength: Int
    private let burst: Int

    /// - Parameter burst: The most ales that a peer sends at once.
    convenience init(
        of server: Server, roomSize: Int, roomCount: Int, burst: Int = 1, offersCompression: Bool = false
    ) {
        self.init(
            of: [server], roomSize: roomSize, roomCount: roomCount, burst: burst, offersCompression: offersCompression)
    }

    /// - Parameter deal: The index of the server that the next peer goes to.
    init(
        of servers: [Server], roomSize: Int, roomCount: Int, burst: Int = 1, offersCompression: Bool = false,
        deal: () -> Int = { 0 }
    ) {
        self.servers = servers
        self.roomSize = roomSize
        self.roomCount = roomCount
        self.burst = burst
        self.offersCompression = offersCompression
        rooms = (0..<roomCount).map { _ in UUID().uuidString }
        let peers = roomSize * roomCount
        sockets = .allocate(capacity: peers)
        sockets.initialize(repeating: -1, count: peers)
        home = .allocate(capacity: peers)
        for peer in 0..<peers { (home + peer).initialize(to: deal()) }
        received = .allocate(capacity: peers)
        received.initialize(repeating: 0, count: peers)
        sent = .allocate(capacity: peers)
        sent.initialize(repeating: 0, count: peers)
        sentInRoom = .allocate(capacity: roomCount)
        sentInRoom.initialize(repeating: 0, count: roomCount)
        aleLength = LoadFrame.ale(room: rooms.first ?? "").count
        ales = .allocate(byteCount: max(1, roomCount * burst * aleLength), alignment: 16)
        for (number, room) in rooms.enumerated() {
            let ale = LoadFrame.ale(room: room)
            for copy in 0..<burst {
                UnsafeMutableRawBufferPointer(
                    start: ales + (number * burst + copy) * aleLength, count: aleLength
                ).copyBytes(from: ale)
            }
        }
    }

    deinit {
        disperse()
        sockets.deallocate()
        home.deallocate()
        received.deallocate()
        sent.deallocate()
        sentInRoom.deallocate()
        ales.deallocate()
    }

    // MARK: Coming and going

    /// Connects peers until there are `count`, or all.
    func gather(upTo count: Int? = nil) throws(BenchFailure) {
        let goal = min(count ?? peerCount, peerCount)
        while connected < goal {
            let first = connected
            let wave = min(Self.wave, goal - first)
            for peer in first..<(first + wave) {
                sockets[peer] = try LoadSocket.connect(port: servers[home[peer]].port, source: peer)
                connected = peer + 1
                let request = LoadFrame.upgrade(room: rooms[peer / roomSize], offersCompression: offersCompression)
                try LoadSocket.send(request, request.count, to: sockets[peer])
            }
            for peer in first..<(first + wave) { try UpgradeResponse.await(on: sockets[peer]) }
        }
    }

    /// Closes the connections of the last peers until `count` are left.
    func disperse(downTo count: Int = 0) {
        while connected > count {
            connected -= 1
            close(sockets[connected])
            sockets[connected] = -1
        }
    }

    // MARK: Ales

    /// Has a peer send `count` ales in one call, `burst` at most.
    @inline(__always)
    func send(_ count: Int, from peer: Int, in room: Int) throws(BenchFailure) {
        try LoadSocket.send(ales + room * burst * aleLength, count * aleLength, to: sockets[peer])
        sent[peer] += count
        sentInRoom[room] += count
    }

    /// Responses that peers should have got and didn't, or got too many: exactly one is due for each ale of another in its room.
    func miscounts() -> (missing: Int, surplus: Int) {
        var missing = 0
        var surplus = 0
        for peer in 0..<connected {
            let due = sentInRoom[peer / roomSize] - sent[peer]
            missing += max(0, due - received[peer])
            surplus += max(0, received[peer] - due)
        }
        return (missing, surplus)
    }

    /// - Throws: When there is any such response.
    func checkCounts() throws(BenchFailure) {
        let (missing, surplus) = miscounts()
        guard missing == 0, surplus == 0 else {
            throw BenchFailure("\(server.name): \(missing) frames missing, \(surplus) too many")
        }
    }
}
