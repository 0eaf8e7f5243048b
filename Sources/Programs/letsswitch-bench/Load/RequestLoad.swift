import Basics
import Glibc

/// Requests over connections that stay open, with one request in flight on each. The next request is sent after the
/// response.
struct RequestLoad: ~Copyable {
    private static let patience: Int32 = 10_000
    private static let bufferSize = 65_536

    private struct Connection {
        let socket: Int32
        var since: UInt64 = 0
        /// The beginning of an incomplete response.
        var response: [UInt8] = []
        var isWaiting = false
    }

    private let server: Server
    private let poller: Poller
    private let next: (Int) -> [UInt8]
    private var connections: [Connection]
    private let buffer: UnsafeMutableRawPointer
    private var asked = 0
    private var answered = 0
    private var latency = LatencyHistogram()

    /// Opens the connections.
    ///
    /// - Parameter next: Makes the requests. It is called with 0, 1, 2, …
    init(_ server: Server, connections count: Int, next: @escaping (Int) -> [UInt8]) throws(BenchFailure) {
        let poller = try Poller()
        var connections: [Connection] = []
        for number in 0..<count {
            connections.append(Connection(socket: try LoadSocket.connect(port: server.port, source: number)))
            try poller.add(connections[number].socket, number: number)
        }
        self.server = server
        self.poller = poller
        self.next = next
        self.connections = connections
        buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit {
        for connection in connections { close(connection.socket) }
        buffer.deallocate()
    }

    /// Runs for `warmUp` seconds, then measures for `seconds`. Returns when all requests are answered.
    mutating func run(warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        for number in connections.indices { try ask(number) }
        try exchange(until: .now() + .seconds(warmUp))
        latency = LatencyHistogram()
        let before = answered
        let watch = try Stopwatch(server)
        try exchange(until: .now() + .seconds(seconds))
        var sample = try watch.stop(work: answered - before)
        sample.latency = latency
        while answered < asked { try receive { _ throws(BenchFailure) in } }
        return sample
    }

    private mutating func exchange(until end: MonotonicTime) throws(BenchFailure) {
        var ready: [Int] = []
        repeat {
            ready.removeAll(keepingCapacity: true)
            try receive { number throws(BenchFailure) in ready.append(number) }
            for number in ready { try ask(number) }
        } while MonotonicTime.now() < end
    }

    /// Calls `done` with each connection whose response is complete.
    private mutating func receive(_ done: (Int) throws(BenchFailure) -> Void) throws(BenchFailure) {
        let count = try poller.wait(milliseconds: Self.patience)
        guard count > 0 else { throw BenchFailure("\(server.name): \(asked - answered) requests are not answered") }
        for index in 0..<count where try take(poller[index]) { try done(poller[index]) }
    }

    private mutating func take(_ number: Int) throws(BenchFailure) -> Bool {
        let count = recv(connections[number].socket, buffer, Self.bufferSize, 0)
        guard count > 0 else {
            throw count < 0 ? BenchFailure(call: "recv") : BenchFailure("\(server.name) closed a connection")
        }
        let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
        guard connections[number].response.isEmpty else {
            connections[number].response += bytes
            let isWhole = try HTTPResponse.isWhole(connections[number].response)
            if isWhole { finish(number) }
            return isWhole
        }
        guard try HTTPResponse.isWhole(bytes) else {
            connections[number].response = Array(bytes)
            return false
        }
        finish(number)
        return true
    }

    private mutating func finish(_ number: Int) {
        connections[number].response.removeAll(keepingCapacity: true)
        answered += 1
        latency.add(nanoseconds: MonotonicTime.now().nanoseconds &- connections[number].since)
    }

    private mutating func ask(_ number: Int) throws(BenchFailure) {
        let request = next(asked)
        asked += 1
        connections[number].since = MonotonicTime.now().nanoseconds
        try LoadSocket.send(request, request.count, to: connections[number].socket)
    }
}
