import Basics
import Glibc

/// Load on several servers at once: in each room one member speaks, the others listen, wherever they were dealt to.
///
/// So the ales of a room have one order for everybody, and the wait of each delivery is known, though all ales look the same. What is
/// lost or comes twice is counted, at the end of each run, not fatal: a bus may lose.
struct FleetLoad: ~Copyable {
    /// When the next ale of a room leaves.
    enum Pace {
        /// When the one before has come everywhere.
        case closed
        /// So many a second, to the rooms in turn, whether the servers keep up or not: waits count from the instant that an ale was due.
        case open(rate: Double)
    }

    /// What is under way for longer is lost.
    private static let patience = Duration.seconds(2)
    /// Ales of a room whose due times are remembered; more can't be told apart.
    private static let window = 1_024

    private let crowd: Crowd
    private let poller: Poller
    private var counter: FrameCounter
    /// By room: who speaks; the last ales' due times, in rings; frames that are under way.
    private let speaker: UnsafeMutablePointer<Int>
    private let due: UnsafeMutablePointer<UInt64>
    private let pending: UnsafeMutablePointer<Int>
    /// By peer: the number, within its room, of the next ale that it will get.
    private let next: UnsafeMutablePointer<Int>
    private var outstanding = 0
    private var delivered = 0
    private var latency = LatencyHistogram()

    /// Takes the rooms of a crowd that has gathered whole. Who speaks is drawn.
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

    /// Loads the servers, measures after `warmUp` for `seconds`, then waits for what is under way. Deliveries are the work; the waits are
    /// of those that crossed from one server to another, where there are several.
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
        // With what is still on its way, or the slowest would be left out.
        try finish()
        sample.latency = latency
        return sample
    }

    /// Goes on where nothing has come by then, until something does or is lost: a round for which the machine had no time would say
    /// that the servers do nothing.
    private mutating func load(
        _ pace: Pace, _ number: inout Int, from start: MonotonicTime, until end: MonotonicTime
    ) throws(BenchFailure) {
        let before = delivered
        while case let end = delivered > before ? end : end + Self.patience, MonotonicTime.now() < end {
            switch pace {
            case .closed:
                try receive(until: min(end, .now() + Self.patience), goesOn: true)
            case .open(let rate):
                let dueAt = start + .seconds(Double(number) / rate)
                if dueAt <= .now() {
                    try send(to: number % crowd.roomCount, due: dueAt.nanoseconds)
                    number += 1
                    // Late, as after a stall: what came meanwhile is taken too, or it would look later than it was.
                    guard number % 16 == 0 else { continue }
                }
                try receive(until: min(end, dueAt), goesOn: false)
            }
        }
    }

    private mutating func send(to room: Int, due dueAt: UInt64) throws(BenchFailure) {
        due[room * Self.window + crowd.sentInRoom[room] % Self.window] = dueAt
        pending[room] += crowd.roomSize - 1
        outstanding += crowd.roomSize - 1
        try crowd.send(1, from: speaker[room], in: room)
    }

    private mutating func receive(until instant: MonotonicTime, goesOn: Bool) throws(BenchFailure) {
        let count = try poller.wait(until: instant)
        for index in 0..<count { try take(poller[index], goesOn: goesOn) }
    }

    private mutating func take(_ peer: Int, goesOn: Bool) throws(BenchFailure) {
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
        if goesOn, pending[room] == 0, awaited > 0 { try send(to: room, due: MonotonicTime.now().nanoseconds) }
    }

    /// Waits until nothing is under way, or nothing comes any more; and a moment longer for what should not come.
    private mutating func finish() throws(BenchFailure) {
        var last = (count: delivered, at: MonotonicTime.now())
        while outstanding > 0, MonotonicTime.now() < last.at + Self.patience {
            try receive(until: last.at + Self.patience, goesOn: false)
            if delivered > last.count { last = (delivered, .now()) }
        }
        let surplus = MonotonicTime.now() + .milliseconds(20)
        while MonotonicTime.now() < surplus { try receive(until: surplus, goesOn: false) }
        outstanding = 0
    }
}
