import Basics
import Glibc

/// All people connect in random order, as fast as the server accepts them. Each room has two people. While others still
/// connect, members of complete rooms send ales at an even rate.
struct RushHour: ~Copyable {
    struct Outcome {
        var connected = 0
        /// The time from the first attempt to the last greeting.
        var seconds = 0.0
        /// The times of the connections, each from its attempt to the greeting.
        var connects = LatencyHistogram()
        /// The times of the ales that were due while people connected, each from its due time to its arrival.
        var ales = LatencyHistogram()
        /// The number of ales that were received twice, or not at all.
        var miscounted = 0
        var serverCPU = 0.0
    }

    /// The maximum number of connections that wait for their answer at the same time.
    private static let window = 512
    private static let alesPerSecond = 2_000.0
    private static let patience = Duration.seconds(30)

    private struct Person {
        var socket: Int32 = -1
        var response: [UInt8] = []
        var isIn = false
        var since: UInt64 = 0
        /// The due times of the ales for this peer. `got` is the number of those that it has received.
        var due: [UInt64] = []
        var got = 0
    }

    private let server: Server
    private let rooms: [String]
    private let poller: Poller
    private var counter: FrameCounter
    private var people: [Person]
    /// The people who haven't connected yet.
    private var queue: [Int]
    private var waiting = 0
    /// The rooms in which both members are connected.
    private var complete: [Int] = []
    private var aleNumber = 0
    private var outcome = Outcome()

    init(_ server: Server, rooms: [String]) throws(BenchFailure) {
        let poller = try Poller()
        self.poller = poller
        self.server = server
        self.rooms = rooms
        counter = FrameCounter()
        people = Array(repeating: Person(), count: 2 * rooms.count)
        queue = (0..<(2 * rooms.count)).shuffled()
    }

    deinit {
        for person in people where person.socket >= 0 { close(person.socket) }
    }

    mutating func run() throws(BenchFailure) -> Outcome {
        let watch = try Stopwatch(server)
        let start = MonotonicTime.now()
        let end = start + Self.patience
        var lastIn = start
        while outcome.connected < people.count {
            guard MonotonicTime.now() < end else {
                throw BenchFailure("\(outcome.connected) people got in within 30 s")
            }
            try letIn()
            try sendDueAles(since: start)
            try serve()
            lastIn = .now()
        }
        outcome.seconds = (lastIn - start) / .seconds(1)
        try settle()
        outcome.serverCPU = try watch.stop(work: 1).serverCPU
        for person in people { outcome.miscounted += abs(person.due.count - person.got) }
        return outcome
    }

    /// Starts only a few connections per turn. Otherwise an ale that is due would wait for hundreds of connections to
    /// start.
    private mutating func letIn() throws(BenchFailure) {
        var number = 0
        while waiting < Self.window, number < 16, let person = queue.popLast() {
            number += 1
            people[person].since = MonotonicTime.now().nanoseconds
            let socket = try LoadSocket.connect(port: server.port, source: person)
            people[person].socket = socket
            try poller.add(socket, number: person)
            let request = LoadFrame.upgrade(room: rooms[person / 2], offersCompression: false)
            try LoadSocket.send(request, request.count, to: socket)
            waiting += 1
        }
    }

    private mutating func sendDueAles(since start: MonotonicTime) throws(BenchFailure) {
        let now = MonotonicTime.now().nanoseconds
        while case let due = start.nanoseconds + UInt64(Double(aleNumber) * 1e9 / Self.alesPerSecond), due <= now {
            aleNumber += 1
            // No ale is due before the first room is complete.
            guard let room = complete.randomElement() else { continue }
            let sender = 2 * room + aleNumber % 2
            let ale = LoadFrame.ale(room: rooms[room])
            people[sender ^ 1].due.append(due)
            try LoadSocket.send(ale, ale.count, to: people[sender].socket)
        }
    }

    private mutating func serve() throws(BenchFailure) {
        let count = try poller.wait(milliseconds: queue.isEmpty || waiting == Self.window ? 1 : 0)
        for index in 0..<count {
            let person = poller[index]
            if people[person].isIn { try receiveAles(person) } else { try receiveUpgrade(person) }
        }
    }

    private mutating func receiveAles(_ person: Int) throws(BenchFailure) {
        let frames = try counter.receive(from: people[person].socket)
        let now = MonotonicTime.now().nanoseconds
        for _ in 0..<frames {
            if people[person].got < people[person].due.count {
                outcome.ales.add(nanoseconds: now &- people[person].due[people[person].got])
            }
            people[person].got += 1
        }
    }

    private mutating func receiveUpgrade(_ person: Int) throws(BenchFailure) {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = recv(people[person].socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            throw count < 0 ? BenchFailure(call: "recv (upgrade)") : BenchFailure("somebody was not let in")
        }
        people[person].response += buffer[..<count]
        guard people[person].response.count < 1_024 else {
            throw BenchFailure("not let in: \(String(decoding: people[person].response, as: UTF8.self))")
        }
        guard UpgradeResponse.isComplete(people[person].response) else { return }
        try UpgradeResponse.check(people[person].response)
        people[person].response = []
        people[person].isIn = true
        outcome.connects.add(nanoseconds: MonotonicTime.now().nanoseconds &- people[person].since)
        outcome.connected += 1
        waiting -= 1
        if people[person ^ 1].isIn { complete.append(person / 2) }
    }

    /// Waits for the last ales, then a moment longer for surplus ones.
    private mutating func settle() throws(BenchFailure) {
        let end = MonotonicTime.now() + .milliseconds(500)
        while MonotonicTime.now() < end { try serve() }
    }
}
