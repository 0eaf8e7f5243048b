import Dispatch
import Sockets
import TestSupport

/// Two loops, a listener on the first, and the sockets that it accepted, with handlers that record.
struct SocketBench: Sendable {
    private final class Accepted {
        var sockets: [StreamSocket] = []
    }

    let loops: [EventLoop]
    let openSockets: SocketCount
    let endpoint: ClientEndpoint
    let events = EventRecorder<SocketEvent>()
    private let accepted = LoopLocal<Accepted>()

    private init(at address: SocketAddress) async throws {
        let openSockets = SocketCount()
        let loops = [
            try EventLoop(index: 0, openSockets: openSockets), try EventLoop(index: 1, openSockets: openSockets),
        ]
        for loop in loops { await loop.start() }
        let bound = try await loops[0].run { [accepted, events] reactor in
            let listener = try ListeningSocket(address)
            try listener.start(on: reactor) { detached, _ in
                guard let socket = try? StreamSocket(detached, on: reactor) else { return }
                socket.handler = RecordingHandler(events)
                accepted.value(on: reactor, make: Accepted.init).sockets.append(socket)
            } rested: { _ in
            }
            return listener.address.description
        }
        guard let endpoint = ClientEndpoint(bound) else { throw ClientFailure.misuse(bound) }
        (self.loops, self.openSockets, self.endpoint) = (loops, openSockets, endpoint)
    }

    static func run(
        at address: String = "127.0.0.1", _ body: (SocketBench) async throws -> Void
    ) async throws {
        let address =
            address.hasPrefix("/")
            ? try SocketAddress(path: address) : try SocketAddress.resolve(host: address, port: 0)[0]
        let bench = try await SocketBench(at: address)
        do {
            try await body(bench)
        } catch {
            for loop in bench.loops { await loop.stop() }
            throw error
        }
        for loop in bench.loops { await loop.stop() }
    }

    /// Connects a client. Its socket on the first loop is the last of the accepted ones.
    func connect(receiveBuffer: Int32? = nil) async throws -> RawConnection {
        let before = openSockets.current
        let client = try await RawConnection.connect(to: endpoint, receiveBuffer: receiveBuffer)
        try await until("the connection is accepted") { openSockets.current > before }
        return client
    }

    /// Runs `work` with the socket that was accepted last, on its loop.
    func withSocket<Result: Sendable>(_ work: @Sendable (StreamSocket) throws -> Result) async throws -> Result {
        try await loops[0].run { reactor in
            guard let socket = accepted.value(on: reactor, make: Accepted.init).sockets.last else {
                throw ClientFailure.misuse("no socket was accepted")
            }
            return try work(socket)
        }
    }

    /// Waits until `condition` holds, checking after each round through both loops. For states that aren't reported.
    func until(_ what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + Deadline.standard
        while !condition() {
            guard ContinuousClock.now < deadline else {
                throw ClientFailure.timedOut(waitingFor: what, after: Deadline.standard, received: "")
            }
            for loop in loops { await loop.run { _ in } }
        }
    }

    /// Returns the bytes of the next `received` events when there are `count`.
    func receivedBytes(_ count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let event = try await events.next("\(count) bytes") { if case .received = $0 { true } else { false } }
            if case .received(let piece) = event { bytes += piece }
        }
        return bytes
    }
}
