import Basics
import FoundationEssentials
import Glibc

/// Visitors. Each visitor connects, upgrades, sends an ale and leaves, and then a new visitor takes its place. The
/// number of visitors is constant.
///
/// Some rooms have a resident: a connection that stays in the room and receives the ale of each visitor. The resident
/// proves that the server handled every counted ale.
struct VisitorLoad: ~Copyable {
    private static let patience: Int32 = 5_000
    /// The interval of rooms with a resident. There is one room for each place.
    private static let residentEvery = 16

    private struct Place {
        var socket: Int32 = -1
        var resident: Int32 = -1
        let request: [UInt8]
        let ale: [UInt8]
        var response: [UInt8] = []
        /// Whether the room's resident must still receive the visitor's ale.
        var awaitsResident = false
        var since: UInt64 = 0
    }

    private let server: Server
    private let poller: Poller
    private var places: [Place]
    private var counter: FrameCounter
    private var buffer = [UInt8](repeating: 0, count: 4_096)
    private var visits = 0
    private var source = 0
    private var latency = LatencyHistogram()

    init(_ server: Server, places count: Int) throws(BenchFailure) {
        let poller = try Poller()
        var places: [Place] = []
        for number in 0..<count {
            let room = UUID().uuidString
            var place = Place(
                request: LoadFrame.upgrade(room: room, offersCompression: false), ale: LoadFrame.ale(room: room))
            if number % Self.residentEvery == 0 {
                place.resident = try LoadSocket.connect(port: server.port, source: number)
                try LoadSocket.send(place.request, place.request.count, to: place.resident)
                try UpgradeResponse.await(on: place.resident)
                try poller.add(place.resident, number: count + number)
            }
            places.append(place)
        }
        self.server = server
        self.poller = poller
        self.places = places
        counter = FrameCounter()
    }

    deinit {
        for place in places {
            if place.socket >= 0 { close(place.socket) }
            if place.resident >= 0 { close(place.resident) }
        }
    }

    /// Runs visitors for `warmUp` seconds, and then measures for `seconds`. When the call returns, no visitors are left
    /// and the server is idle.
    mutating func run(warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        for number in places.indices { try enter(number) }
        try serve(for: warmUp)
        latency = LatencyHistogram()
        let before = visits
        let watch = try Stopwatch(server)
        try serve(for: seconds)
        var sample = try watch.stop(work: visits - before)
        sample.latency = latency
        for number in places.indices where places[number].socket >= 0 {
            close(places[number].socket)
            places[number].socket = -1
            places[number].awaitsResident = false
        }
        return sample
    }

    private mutating func serve(for seconds: Double) throws(BenchFailure) {
        let end = MonotonicTime.now() + .seconds(seconds)
        repeat {
            let count = try poller.wait(milliseconds: Self.patience)
            guard count > 0 else { throw BenchFailure("\(server.name): visitors wait in vain") }
            for index in 0..<count {
                let number = poller[index]
                if number < places.count {
                    try visitorReceived(number)
                } else {
                    try residentReceived(number - places.count)
                }
            }
        } while MonotonicTime.now() < end
    }

    private mutating func enter(_ number: Int) throws(BenchFailure) {
        source += 1
        let socket = try LoadSocket.connect(port: server.port, source: source)
        places[number].socket = socket
        places[number].response.removeAll(keepingCapacity: true)
        places[number].since = MonotonicTime.now().nanoseconds
        try LoadSocket.send(places[number].request, places[number].request.count, to: socket)
        try poller.add(socket, number: number)
    }

    private mutating func visitorReceived(_ number: Int) throws(BenchFailure) {
        let socket = places[number].socket
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            throw count < 0 ? BenchFailure(call: "recv") : BenchFailure("\(server.name) closed a visitor's connection")
        }
        places[number].response += buffer[..<count]
        guard UpgradeResponse.isComplete(places[number].response) else { return }
        try UpgradeResponse.check(places[number].response)
        try LoadSocket.send(places[number].ale, places[number].ale.count, to: socket)
        if places[number].resident >= 0 {
            places[number].awaitsResident = true
        } else {
            try leave(number)
        }
    }

    private mutating func residentReceived(_ number: Int) throws(BenchFailure) {
        let frames = try counter.receive(from: places[number].resident)
        guard frames > 0 else { return }
        guard frames == 1, places[number].awaitsResident else {
            throw BenchFailure("\(server.name): \(frames) frames for one ale")
        }
        places[number].awaitsResident = false
        try leave(number)
    }

    private mutating func leave(_ number: Int) throws(BenchFailure) {
        close(places[number].socket)
        places[number].socket = -1
        visits += 1
        latency.add(nanoseconds: MonotonicTime.now().nanoseconds &- places[number].since)
        try enter(number)
    }
}
