import FoundationEssentials
import Glibc
import Wire

/// Connected peers in rooms of equal size, on one server or several, and the numbers of ales that each peer has sent
/// and received.
///
/// Peer `p` is in room `p / roomSize`. Memory is raw because the load's loops access it once per message.
final class Crowd {
    /// The maximum number of connections that wait for their handshake's answer at once.
    private static let wave = 128

    let servers: [Server]
    /// The first server. Only a fleet has more servers.
    var server: Server { servers[0] }
    let roomSize: Int
    let roomCount: Int
    var peerCount: Int { roomSize * roomCount }
    /// The number of peers that are connected. A crowd may connect in steps.
    private(set) var connected = 0

    private let rooms: [String]
    private let offersCompression: Bool
    let sockets: UnsafeMutablePointer<Int32>
    /// By peer: the index of the peer's server.
    let home: UnsafeMutablePointer<Int>
    /// By peer: the number of responses to ales that it has received.
    let received: UnsafeMutablePointer<Int>
    /// By peer: the number of ales sent.
    let sent: UnsafeMutablePointer<Int>
    /// By room: the number of ales sent.
    let sentInRoom: UnsafeMutablePointer<Int>
    /// By room: the bytes of `burst` consecutive ales.
    private let ales: UnsafeMutableRawPointer
    private let aleLength: Int
    private let burst: Int

    /// - Parameter burst: The maximum number of ales that a peer sends in one call.
    convenience init(
        of server: Server, roomSize: Int, roomCount: Int, burst: Int = 1, offersCompression: Bool = false
    ) {
        self.init(
            of: [server], roomSize: roomSize, roomCount: roomCount, burst: burst, offersCompression: offersCompression)
    }

    /// - Parameter deal: Returns the index of the next peer's server.
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

    /// Connects peers until `count` of them are connected, or all.
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

    /// Closes the connections of the last peers until `count` peers are left.
    func disperse(downTo count: Int = 0) {
        while connected > count {
            connected -= 1
            close(sockets[connected])
            sockets[connected] = -1
        }
    }

    // MARK: Ales

    /// Sends `count` ales of one peer in one call. The maximum is `burst`.
    @inline(__always)
    func send(_ count: Int, from peer: Int, in room: Int) throws(BenchFailure) {
        try LoadSocket.send(ales + room * burst * aleLength, count * aleLength, to: sockets[peer])
        sent[peer] += count
        sentInRoom[room] += count
    }

    /// Returns the numbers of missing and surplus responses. A peer must receive exactly one response for each ale of
    /// the other members of its room.
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

    /// - Throws: If a response is missing or surplus.
    func checkCounts() throws(BenchFailure) {
        let (missing, surplus) = miscounts()
        guard missing == 0, surplus == 0 else {
            throw BenchFailure("\(server.name): \(missing) frames missing, \(surplus) too many")
        }
    }
}
