import Basics
import Glibc

/// Connections that send one request and close after any response. A new connection replaces each closed one at once.
struct RefusalLoad: ~Copyable {
    private static let patience: Int32 = 5_000

    private struct Place {
        var socket: Int32 = -1
        let request: [UInt8]
        var response: [UInt8] = []
        var since: UInt64 = 0
    }

    private let server: Server
    private let poller: Poller
    private let status: UInt8
    private var places: [Place]
    private var buffer = [UInt8](repeating: 0, count: 4_096)
    private var answered = 0
    private var source = 0
    private var latency = LatencyHistogram()

    /// - Parameters:
    ///   - requests: The requests, one for each connection. All requests are in progress at the same time.
    ///   - status: The first digit of the expected status.
    init(_ server: Server, requests: [[UInt8]], status: UInt8) throws(BenchFailure) {
        let poller = try Poller()
        self.server = server
        self.poller = poller
        self.status = status
        places = requests.map { Place(request: $0) }
    }

    deinit {
        for place in places where place.socket >= 0 { close(place.socket) }
    }

    /// Runs for `warmUp` seconds, then measures for `seconds`.
    mutating func run(warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        for number in places.indices { try ask(number) }
        try exchange(for: warmUp)
        latency = LatencyHistogram()
        let before = answered
        let watch = try Stopwatch(server)
        try exchange(for: seconds)
        var sample = try watch.stop(work: answered - before)
        sample.latency = latency
        for number in places.indices { leave(number) }
        return sample
    }

    private mutating func exchange(for seconds: Double) throws(BenchFailure) {
        let end = MonotonicTime.now() + .seconds(seconds)
        repeat {
            let count = try poller.wait(milliseconds: Self.patience)
            guard count > 0 else { throw BenchFailure("\(server.name): requests wait in vain") }
            for index in 0..<count where try isAnswered(poller[index]) {
                leave(poller[index])
                try ask(poller[index])
            }
        } while MonotonicTime.now() < end
    }

    private mutating func ask(_ number: Int) throws(BenchFailure) {
        source += 1
        let socket = try LoadSocket.connect(port: server.port, source: source)
        places[number].socket = socket
        places[number].response.removeAll(keepingCapacity: true)
        places[number].since = MonotonicTime.now().nanoseconds
        try LoadSocket.send(places[number].request, places[number].request.count, to: socket)
        try poller.add(socket, number: number)
    }

    private mutating func isAnswered(_ number: Int) throws(BenchFailure) -> Bool {
        let count = recv(places[number].socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            throw count < 0 ? BenchFailure(call: "recv") : BenchFailure("\(server.name) closed without an answer")
        }
        places[number].response += buffer[..<count]
        guard try HTTPResponse.isWhole(places[number].response, status: status) else { return false }
        answered += 1
        latency.add(nanoseconds: MonotonicTime.now().nanoseconds &- places[number].since)
        return true
    }

    private mutating func leave(_ number: Int) {
        close(places[number].socket)
        places[number].socket = -1
    }
}
