import Basics
import Glibc

/// A closed loop: in each busy room the next ales are sent when all receivers have the last one. The load is therefore
/// the highest that the server can handle.
struct ClosedLoop: ~Copyable {
    /// The members that send when a room is quiet.
    enum Pattern: Equatable {
        /// One member sends `ales` ales in one call. The members take turns.
        case oneMember(ales: Int)
        /// Every member sends an ale.
        case everyMember
    }

    /// The maximum silence of the server in milliseconds. A server that is silent for longer has lost an ale.
    private static let patience: Int32 = 5_000

    private let crowd: Crowd
    private let pattern: Pattern
    private let poller: Poller
    private var counter: FrameCounter
    /// By room: the number of outstanding responses, the time at which the ales that cause them were sent, and the next
    /// sender.
    private let pending: UnsafeMutablePointer<Int>
    private let since: UnsafeMutablePointer<UInt64>
    private let turn: UnsafeMutablePointer<Int>
    /// The quiet rooms in a ring with space for all rooms. The room that has been quiet for the longest time is first.
    private let quiet: UnsafeMutablePointer<Int>
    private var quietFirst = 0
    private var quietCount: Int
    private var outstanding = 0
    private var delivered = 0
    private var latency = LatencyHistogram()

    /// Uses the rooms of a complete crowd. The rooms take turns in random order.
    init(_ crowd: Crowd, _ pattern: Pattern) throws(BenchFailure) {
        let poller = try Poller()
        for peer in 0..<crowd.connected { try poller.add(crowd.sockets[peer], number: peer) }
        self.poller = poller
        self.crowd = crowd
        self.pattern = pattern
        counter = FrameCounter()
        let rooms = crowd.connected / crowd.roomSize
        pending = .allocate(capacity: rooms)
        pending.initialize(repeating: 0, count: rooms)
        since = .allocate(capacity: rooms)
        since.initialize(repeating: 0, count: rooms)
        turn = .allocate(capacity: rooms)
        turn.initialize(repeating: 0, count: rooms)
        quiet = .allocate(capacity: rooms)
        quietCount = rooms
        for (index, room) in (0..<rooms).shuffled().enumerated() { quiet[index] = room }
    }

    deinit {
        pending.deallocate()
        since.deallocate()
        turn.deallocate()
        quiet.deallocate()
    }

    /// Loads the server for `warmUp` seconds, and then measures for `seconds`. Then waits for all ales in flight and
    /// checks the counts.
    ///
    /// - Parameter busyRooms: The number of rooms with ales in flight at the same time; `nil` for all rooms.
    mutating func run(warmUp: Double, seconds: Double, busyRooms: Int? = nil) throws(BenchFailure) -> Sample {
        for _ in 0..<min(busyRooms ?? .max, quietCount) { try sendFromNextRoom() }
        try relay(for: warmUp)
        latency = LatencyHistogram()
        let before = delivered
        let watch = try Stopwatch(crowd.server)
        try relay(for: seconds)
        var sample = try watch.stop(work: delivered - before)
        sample.latency = latency
        try finish()
        try crowd.checkCounts()
        return sample
    }

    private mutating func relay(for seconds: Double) throws(BenchFailure) {
        let end = MonotonicTime.now() + .seconds(seconds)
        repeat { try receive(sendsMore: true) } while MonotonicTime.now() < end
    }

    /// Waits for ales in flight, and then a moment longer for surplus ales.
    private mutating func finish() throws(BenchFailure) {
        while outstanding > 0 { try receive(sendsMore: false) }
        let end = MonotonicTime.now() + .milliseconds(20)
        repeat {
            let count = try poller.wait(milliseconds: 5)
            for index in 0..<count { try take(poller[index], sendsMore: false) }
        } while MonotonicTime.now() < end
    }

    private mutating func receive(sendsMore: Bool) throws(BenchFailure) {
        let count = try poller.wait(milliseconds: Self.patience)
        guard count > 0 else { throw BenchFailure("\(crowd.server.name): \(outstanding) frames don't come") }
        for index in 0..<count { try take(poller[index], sendsMore: sendsMore) }
    }

    @inline(__always)
    private mutating func take(_ peer: Int, sendsMore: Bool) throws(BenchFailure) {
        let frames = try counter.receive(from: crowd.sockets[peer])
        guard frames > 0 else { return }
        let room = peer / crowd.roomSize
        crowd.received[peer] += frames
        delivered += frames
        outstanding -= frames
        pending[room] -= frames
        guard pending[room] <= 0 else { return }
        guard pending[room] == 0 else { throw BenchFailure("\(crowd.server.name): more frames than ales") }
        latency.add(nanoseconds: MonotonicTime.now().nanoseconds &- since[room])
        becomeQuiet(room)
        if sendsMore { try sendFromNextRoom() }
    }

    private mutating func becomeQuiet(_ room: Int) {
        let rooms = crowd.connected / crowd.roomSize
        var last = quietFirst + quietCount
        if last >= rooms { last -= rooms }
        quiet[last] = room
        quietCount += 1
    }

    private mutating func sendFromNextRoom() throws(BenchFailure) {
        let rooms = crowd.connected / crowd.roomSize
        let room = quiet[quietFirst]
        quietFirst = quietFirst + 1 == rooms ? 0 : quietFirst + 1
        quietCount -= 1
        let size = crowd.roomSize
        since[room] = MonotonicTime.now().nanoseconds
        switch pattern {
        case .oneMember(let ales):
            pending[room] = ales * (size - 1)
            outstanding += ales * (size - 1)
            try crowd.send(ales, from: room * size + turn[room], in: room)
            turn[room] = turn[room] + 1 == size ? 0 : turn[room] + 1
        case .everyMember:
            pending[room] = size * (size - 1)
            outstanding += size * (size - 1)
            for member in 0..<size { try crowd.send(1, from: room * size + member, in: room) }
        }
    }
}
