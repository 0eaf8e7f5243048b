import Basics
import Glibc

/// An open loop: one ale every few nanoseconds, whether or not the server keeps up. The latency of each delivery counts
/// from the instant when its ale was due, not from the instant when it was sent. If the server stalls, the latencies of
/// all ales that were due meanwhile therefore include the stall (no coordinated omission).
struct OpenLoop: ~Copyable {
    /// The maximum number of a room's ales in flight, a power of two.
    private static let window = 256
    /// The maximum wait for ales in flight at the end.
    private static let patience = Duration.seconds(5)

    private let crowd: Crowd
    private let poller: Poller
    private var counter: FrameCounter
    /// By room: the due times and the senders of the last ales, in rings.
    private let due: UnsafeMutablePointer<UInt64>
    private let sender: UnsafeMutablePointer<Int>
    /// By peer: the number of the next ale that it will receive, counted in its room.
    private let next: UnsafeMutablePointer<Int>
    private let turn: UnsafeMutablePointer<Int>
    private var outstanding = 0
    private var delivered = 0
    private var latency = LatencyHistogram()

    /// Uses the rooms of a complete crowd that hasn't sent anything yet.
    init(_ crowd: Crowd) throws(BenchFailure) {
        let poller = try Poller()
        for peer in 0..<crowd.peerCount { try poller.add(crowd.sockets[peer], number: peer) }
        self.poller = poller
        self.crowd = crowd
        counter = FrameCounter()
        due = .allocate(capacity: crowd.roomCount * Self.window)
        sender = .allocate(capacity: crowd.roomCount * Self.window)
        next = .allocate(capacity: crowd.peerCount)
        for peer in 0..<crowd.peerCount { next[peer] = crowd.sentInRoom[peer / crowd.roomSize] }
        turn = .allocate(capacity: crowd.roomCount)
        turn.initialize(repeating: 0, count: crowd.roomCount)
    }

    deinit {
        due.deallocate()
        sender.deallocate()
        next.deallocate()
        turn.deallocate()
    }

    /// Sends `rate` ales per second, to the rooms in turn. The generator doesn't sleep, because the latencies would
    /// include its own wake-up.
    mutating func run(rate: Double, warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        let interval = 1e9 / rate
        let start = Double(MonotonicTime.now().nanoseconds)
        let warm = Int(warmUp * rate)
        try send(from: 0, to: warm, start: start, interval: interval)
        latency = LatencyHistogram()
        let before = delivered
        let watch = try Stopwatch(crowd.server)
        try send(from: warm, to: warm + Int(seconds * rate), start: start, interval: interval)
        var sample = try watch.stop(work: delivered - before)
        try finish()
        sample.latency = latency
        try crowd.checkCounts()
        return sample
    }

    private mutating func send(
        from first: Int, to last: Int, start: Double, interval: Double
    ) throws(BenchFailure) {
        var number = first
        while number < last {
            let dueAt = UInt64(start + Double(number) * interval)
            while MonotonicTime.now().nanoseconds < dueAt { try receive() }
            let room = number % crowd.roomCount
            try sendOne(to: room, due: dueAt)
            number += 1
            // If the generator is late, for example after a stall, it reads the arrived frames now. Otherwise these
            // deliveries would look slower than they were.
            if number % 64 == 0 { try receive() }
        }
    }

    private mutating func sendOne(to room: Int, due dueAt: UInt64) throws(BenchFailure) {
        let size = crowd.roomSize
        let number = crowd.sentInRoom[room]
        let slot = room * Self.window + number % Self.window
        let member = turn[room]
        turn[room] = member + 1 == size ? 0 : member + 1
        for peer in (room * size)..<((room + 1) * size) where number - next[peer] >= Self.window {
            throw BenchFailure("\(crowd.server.name): \(Self.window) ales of a room are under way")
        }
        due[slot] = dueAt
        sender[slot] = room * size + member
        outstanding += size - 1
        try crowd.send(1, from: room * size + member, in: room)
    }

    private mutating func receive() throws(BenchFailure) {
        let count = try poller.wait(milliseconds: 0)
        for index in 0..<count { try take(poller[index]) }
    }

    private mutating func take(_ peer: Int) throws(BenchFailure) {
        let frames = try counter.receive(from: crowd.sockets[peer])
        let now = MonotonicTime.now().nanoseconds
        let room = peer / crowd.roomSize
        crowd.received[peer] += frames
        delivered += frames
        outstanding -= frames
        for _ in 0..<frames {
            // A peer doesn't receive its own ales.
            while next[peer] < crowd.sentInRoom[room], sender[slot(room, next[peer])] == peer { next[peer] += 1 }
            guard next[peer] < crowd.sentInRoom[room] else {
                throw BenchFailure("\(crowd.server.name): more frames than ales")
            }
            latency.add(nanoseconds: now &- due[slot(room, next[peer])])
            next[peer] += 1
        }
        // Skips the peer's own ales after the last one received, too. Otherwise the only peer that sends would seem to
        // be late.
        while next[peer] < crowd.sentInRoom[room], sender[slot(room, next[peer])] == peer { next[peer] += 1 }
    }

    private func slot(_ room: Int, _ number: Int) -> Int { room * Self.window + number % Self.window }

    private mutating func finish() throws(BenchFailure) {
        let end = MonotonicTime.now() + Self.patience
        while outstanding > 0 {
            try receive()
            guard MonotonicTime.now() < end else {
                throw BenchFailure("\(crowd.server.name): \(outstanding) frames don't come")
            }
        }
        let surplus = MonotonicTime.now() + .milliseconds(20)
        repeat { try receive() } while MonotonicTime.now() < surplus
    }
}
