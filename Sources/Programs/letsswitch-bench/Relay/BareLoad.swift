import Basics
import FoundationEssentials

/// The load of ``FleetLoad`` on bare clients of an engine, without servers and peers. It shows the load that the engine
/// itself can carry.
///
/// All clients share this thread. In each room one member sends, at a client chosen at random. Members at the same
/// client receive an ale at once. Members at other clients receive it when the payload reaches their client.
struct BareLoad: ~Copyable {
    private static let patience = Duration.seconds(2)
    /// The number of a room's ales whose due times are kept.
    private static let window = 1_024

    private struct Room {
        /// The number of members, by client.
        let members: [Int]
        /// The client of the member that sends.
        let home: Int
        /// The number of ales sent.
        var sent = 0
        /// The number of ales that each client has received.
        var received: [Int]
        var due = [UInt64](repeating: 0, count: BareLoad.window)
    }

    private let buses: [RelayBus]
    private let poller: Poller
    /// The engine's sockets, and the clients that they belong to.
    private let sockets: [(descriptor: Int32, client: Int)]
    private var rooms: [Room] = []
    private let roomSize: Int
    private var delivered = 0
    /// The number of ales that at least one client hasn't received yet.
    private var outstanding = 0
    private var latency = LatencyHistogram()
    /// The rooms whose ale reached all clients in this turn.
    private var finished: [Int] = []

    /// - Parameters:
    ///   - carriers: At least two carriers, one for each client.
    ///   - deal: Returns the client of the next peer.
    init(_ carriers: [any Carrier], roomSize: Int, rooms count: Int, random: inout SeededRandom, deal: () -> Int)
        throws(BenchFailure)
    {
        let poller = try Poller()
        let sockets = carriers.enumerated().flatMap { client, carrier in carrier.sockets.map { ($0, client) } }
        for (number, socket) in sockets.enumerated() { try poller.add(socket.0, number: number) }
        let buses = carriers.map { RelayBus($0) }
        self.poller = poller
        self.sockets = sockets
        self.buses = buses
        self.roomSize = roomSize
        for number in 0..<count {
            let homes = (0..<roomSize).map { _ in deal() }
            rooms.append(
                Room(
                    members: buses.indices.map { index in homes.count { $0 == index } },
                    home: homes[Int.random(in: 0..<roomSize, using: &random)],
                    received: Array(repeating: 0, count: buses.count)))
            let id = UUID()
            for bus in buses { bus.register(Int32(number), id) }
        }
    }

    /// See ``FleetLoad/run(_:warmUp:seconds:)``. The CPU time is that of this process.
    mutating func run(_ pace: FleetLoad.Pace, warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        let start = MonotonicTime.now()
        if case .closed = pace { for room in rooms.indices { send(in: room, due: start.nanoseconds) } }
        var number = 0
        try load(pace, &number, from: start, until: start + .seconds(warmUp))
        latency = LatencyHistogram()
        let meter = try ProcessMeter.own()
        let (before, cpu, begun) = (delivered, try meter.cpu(), MonotonicTime.now())
        try load(pace, &number, from: start, until: start + .seconds(warmUp + seconds))
        var sample = Sample()
        sample.work = delivered - before
        sample.seconds = (MonotonicTime.now() - begun) / .seconds(1)
        sample.serverCPU = try meter.cpu() - cpu
        let end = MonotonicTime.now() + Self.patience
        while outstanding > 0, .now() < end { try turn(until: end, sendsMore: false) }
        guard outstanding == 0 else { throw BenchFailure("\(outstanding) ales are lost on the way") }
        sample.latency = latency
        return sample
    }

    /// Sends ales until `end`. If no ale has arrived by then, continues until the first one arrives, but for at most
    /// ``patience``. ``FleetLoad`` does the same, because a phase without CPU time would otherwise count as zero
    /// throughput.
    private mutating func load(
        _ pace: FleetLoad.Pace, _ number: inout Int, from start: MonotonicTime, until end: MonotonicTime
    ) throws(BenchFailure) {
        let before = delivered
        while case let end = delivered > before ? end : end + Self.patience, MonotonicTime.now() < end {
            switch pace {
            case .closed:
                try turn(until: end, sendsMore: true)
            case .open(let rate):
                while case let due = start + .seconds(Double(number) / rate), due <= .now() {
                    send(in: number % rooms.count, due: due.nanoseconds)
                    number += 1
                }
                try turn(until: min(end, start + .seconds(Double(number) / rate)), sendsMore: false)
            }
        }
    }

    private mutating func send(in room: Int, due: UInt64) {
        let home = rooms[room].home
        rooms[room].due[rooms[room].sent % Self.window] = due
        rooms[room].sent += 1
        rooms[room].received[home] += 1
        delivered += rooms[room].members[home] - 1
        outstanding += 1
        buses[home].add(1, in: Int32(room))
    }

    /// Sends the gathered ales, waits, and reads the arrived payloads.
    private mutating func turn(until instant: MonotonicTime, sendsMore: Bool) throws(BenchFailure) {
        for bus in buses { try bus.send() }
        for index in 0..<(try poller.wait(until: instant)) {
            let (descriptor, client) = sockets[poller[index]]
            try buses[client].ready(descriptor) { room, ales in receive(ales, in: Int(room), at: client) }
        }
        if sendsMore { for room in finished { send(in: room, due: MonotonicTime.now().nanoseconds) } }
        finished.removeAll(keepingCapacity: true)
    }

    private mutating func receive(_ ales: Int, in room: Int, at client: Int) {
        let now = MonotonicTime.now().nanoseconds
        for number in rooms[room].received[client]..<(rooms[room].received[client] + ales) {
            let wait = now &- rooms[room].due[number % Self.window]
            for _ in 0..<rooms[room].members[client] { latency.add(nanoseconds: wait) }
        }
        let everywhere = rooms[room].received.min() ?? 0
        rooms[room].received[client] += ales
        delivered += ales * rooms[room].members[client]
        let newly = (rooms[room].received.min() ?? 0) - everywhere
        outstanding -= newly
        if newly > 0 { finished.append(room) }
    }
}
