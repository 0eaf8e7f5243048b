import Basics
import Glibc

/// Load on several servers at once. In each room one member sends, and the others receive on any of the servers.
///
/// All members receive the ales of a room in the same order, so the latency of each delivery is known although all ales
/// are equal. Lost and repeated ales don't end the benchmark, because a bus may lose ales. Each run counts lost and
/// repeated ales when it ends.
struct FleetLoad: ~Copyable {
    /// The rule that decides when the next ale of a room is sent.
    enum Pace {
        /// The next ale is sent when all members have received the last one.
        case closed
        /// `rate` ales are sent per second, to all rooms in turn, whether or not the servers keep up. Latencies count
        /// from the instant when an ale was due.
        case open(rate: Double)
    }

    /// The time after which an ale in flight counts as lost.
    private static let patience = Duration.seconds(2)
    /// The number of a room's ales whose due times are kept. The latencies of more ales in flight would be wrong.
    private static let window = 1_024

    private let crowd: Crowd
    private let poller: Poller
    private var counter: FrameCounter
    /// By room: the member that sends, the due times of the last ales (in rings), and the number of frames in flight.
    private let speaker: UnsafeMutablePointer<Int>
    private let due: UnsafeMutablePointer<UInt64>
    private let pending: UnsafeMutablePointer<Int>
    /// By peer: the number of the next ale that it will receive, counted in its room.
    private let next: UnsafeMutablePointer<Int>
    private var outstanding = 0
    private var delivered = 0
    private var latency = LatencyHistogram()

    /// Uses the rooms of a complete crowd. The sending members are chosen at random.
    init(_ crowd: Crowd, random: inout SeededRandom) throws(BenchFailure) {
        let poller = try Poller()
        for peer in 0..<crowd.peerCount { try poller.add(crowd.sockets[peer], number: peer) }
        self.poller = poller
        self.crowd = crowd
        counter = FrameCounter()
        speaker = .allocate(capacity: crowd.roomCount)
        for room in 0..<crowd.roomCount {
            (speaker + room).initialize(to: room * crowd.roomSize + .random(in: 0..<crowd.roomSize, using: &random))
        }
        due = .allocate(capacity: crowd.roomCount * Self.window)
        due.initialize(repeating: 0, count: crowd.roomCount * Self.window)
        pending = .allocate(capacity: crowd.roomCount)
        pending.initialize(repeating: 0, count: crowd.roomCount)
        next = .allocate(capacity: crowd.peerCount)
        for peer in 0..<crowd.peerCount { (next + peer).initialize(to: crowd.sentInRoom[peer / crowd.roomSize]) }
    }

    deinit {
        speaker.deallocate()
        due.deallocate()
        pending.deallocate()
        next.deallocate()
    }

    /// Loads the servers for `warmUp` seconds, measures for `seconds`, and then waits for ales in flight. The unit of
    /// work is a delivery. If there are several servers, latencies contain only deliveries between two servers.
    mutating func run(_ pace: Pace, warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        let start = MonotonicTime.now()
        if case .closed = pace { for room in 0..<crowd.roomCount { try send(to: room, due: start.nanoseconds) } }
        var number = 0
        try load(pace, &number, from: start, until: start + .seconds(warmUp))
        latency = LatencyHistogram()
        let before = delivered
        let watch = try Stopwatch(crowd.servers)
        try load(pace, &number, from: start, until: start + .seconds(warmUp + seconds))
        var sample = try watch.stop(work: delivered - before)
        // The latencies include ales still in flight. Otherwise the slowest deliveries would be missing.
        try finish()
        sample.latency = latency
        return sample
    }

    /// Loads the servers until `end`, and then until an ale has arrived or is lost. Otherwise a round in which the
    /// servers got no CPU time would count as zero throughput.
    private mutating func load(
        _ pace: Pace, _ number: inout Int, from start: MonotonicTime, until end: MonotonicTime
    ) throws(BenchFailure) {
        let before = delivered
        while case let end = delivered > before ? end : end + Self.patience, MonotonicTime.now() < end {
            switch pace {
            case .closed:
                try receive(until: min(end, .now() + Self.patience), sendsMore: true)
            case .open(let rate):
                let dueAt = start + .seconds(Double(number) / rate)
                if dueAt <= .now() {
                    try send(to: number % crowd.roomCount, due: dueAt.nanoseconds)
                    number += 1
                    // If the generator is late, for example after a stall, it reads the arrived frames now. Otherwise
                    // these deliveries would look slower than they were.
                    guard number % 16 == 0 else { continue }
                }
                try receive(until: min(end, dueAt), sendsMore: false)
            }
        }
    }

    private mutating func send(to room: Int, due dueAt: UInt64) throws(BenchFailure) {
        due[room * Self.window + crowd.sentInRoom[room] % Self.window] = dueAt
        pending[room] += crowd.roomSize - 1
        outstanding += crowd.roomSize - 1
        try crowd.send(1, from: speaker[room], in: room)
    }

    private mutating func receive(until instant: MonotonicTime, sendsMore: Bool) throws(BenchFailure) {
        let count = try poller.wait(until: instant)
        for index in 0..<count { try take(poller[index], sendsMore: sendsMore) }
    }

    private mutating func take(_ peer: Int, sendsMore: Bool) throws(BenchFailure) {
        let frames = try counter.receive(from: crowd.sockets[peer])
        guard frames > 0 else { return }
        let room = peer / crowd.roomSize
        crowd.received[peer] += frames
        delivered += frames
        let crosses = crowd.servers.count == 1 || crowd.home[peer] != crowd.home[speaker[room]]
        let now = MonotonicTime.now().nanoseconds
        for number in next[peer]..<min(next[peer] + frames, crowd.sentInRoom[room]) where crosses {
            latency.add(nanoseconds: now &- due[room * Self.window + number % Self.window])
        }
        next[peer] = min(next[peer] + frames, crowd.sentInRoom[room])
        let awaited = min(frames, pending[room])
        pending[room] -= awaited
        outstanding -= awaited
        if sendsMore, pending[room] == 0, awaited > 0 { try send(to: room, due: MonotonicTime.now().nanoseconds) }
    }

    /// Waits until no ale is in flight or no more ales arrive, and then a moment longer for surplus ales.
    private mutating func finish() throws(BenchFailure) {
        var last = (count: delivered, at: MonotonicTime.now())
        while outstanding > 0, MonotonicTime.now() < last.at + Self.patience {
            try receive(until: last.at + Self.patience, sendsMore: false)
            if delivered > last.count { last = (delivered, .now()) }
        }
        let surplus = MonotonicTime.now() + .milliseconds(20)
        while MonotonicTime.now() < surplus { try receive(until: surplus, sendsMore: false) }
        outstanding = 0
    }
}
