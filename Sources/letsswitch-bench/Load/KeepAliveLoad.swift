import Glibc
import Sockets

/// Requests over kept connections, one under way on each: `GET` of a page that never changes its length.
struct KeepAliveLoad: ~Copyable {
    private static let patience: Int32 = 5_000
    private static let bufferSize = 4_096

    private let server: Server
    private let poller: Poller
    private let request: [UInt8]
    private let sockets: [Int32]
    private var since: [UInt64]
    private let answerLength: Int
    private var buffer: [UInt8]
    private var answered = 0
    private var latency = LatencyHistogram()

    /// Connects, and asks once on each connection to learn the answer's length.
    init(_ server: Server, path: String, connections: Int) throws(BenchFailure) {
        let poller = try Poller()
        let request = Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var sockets: [Int32] = []
        var length = 0
        for number in 0..<connections {
            let socket = try LoadSocket.connect(port: server.port, source: number)
            sockets.append(socket)
            try LoadSocket.send(request, request.count, to: socket)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { throw BenchFailure(call: "recv (\(path))") }
            try Self.check(buffer.prefix(count), path)
            length = count
            try poller.add(socket, number: number)
        }
        self.server = server
        self.poller = poller
        self.request = request
        self.sockets = sockets
        self.buffer = buffer
        since = Array(repeating: 0, count: connections)
        answerLength = length
    }

    deinit {
        for socket in sockets { close(socket) }
    }

    private static func check(_ answer: ArraySlice<UInt8>, _ path: String) throws(BenchFailure) {
        let text = String(decoding: answer, as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 200 "), text.contains("Content-Length: "), text.hasSuffix("}") else {
            throw BenchFailure("\(path) answers: \(text)")
        }
    }

    mutating func run(warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        for number in sockets.indices { try ask(number) }
        try exchange(for: warmUp)
        latency = LatencyHistogram()
        let before = answered
        let watch = try Stopwatch(server)
        try exchange(for: seconds)
        var sample = try watch.stop(work: answered - before)
        sample.latency = latency
        var waiting = sockets.count
        while waiting > 0 { try receive { _ in waiting -= 1 } }
        return sample
    }

    private mutating func exchange(for seconds: Double) throws(BenchFailure) {
        let end = MonotonicTime.now() + .seconds(seconds)
        repeat {
            let count = try poller.wait(milliseconds: Self.patience)
            guard count > 0 else { throw BenchFailure("\(server.name): no answers") }
            for index in 0..<count {
                try take(poller[index])
                try ask(poller[index])
            }
        } while MonotonicTime.now() < end
    }

    private mutating func receive(_ done: (Int) -> Void) throws(BenchFailure) {
        let count = try poller.wait(milliseconds: Self.patience)
        guard count > 0 else { throw BenchFailure("\(server.name): no answers") }
        for index in 0..<count {
            try take(poller[index])
            done(poller[index])
        }
    }

    private mutating func take(_ number: Int) throws(BenchFailure) {
        let count = recv(sockets[number], &buffer, buffer.count, 0)
        // Whole, and a success: one answer to one request.
        guard count == answerLength, buffer[9] == UInt8(ascii: "2") else {
            throw BenchFailure("\(server.name): \(count) bytes where an answer has \(answerLength)")
        }
        answered += 1
        latency.add(nanoseconds: MonotonicTime.now().nanoseconds &- since[number])
    }

    private mutating func ask(_ number: Int) throws(BenchFailure) {
        since[number] = MonotonicTime.now().nanoseconds
        try LoadSocket.send(request, request.count, to: sockets[number])
    }
}
