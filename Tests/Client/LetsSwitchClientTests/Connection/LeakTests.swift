import Basics
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests that ended connections leave nothing behind.
@Suite struct LeakTests {
    /// Counts of existing objects.
    private final class ObjectCounter: Sendable {
        private let count = Locked(0)
        var now: Int { count.withLock { $0 } }
        func add(_ difference: Int) { count.withLock { $0 += difference } }
    }

    private struct CountedTransport: Transport {
        let transport: SocketTransport
        let links: ObjectCounter

        func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
            try await transport.exchange(request)
        }

        func webSocket(_ request: ClientRequest, subprotocols: [String]) async throws(ClientError) -> any Link {
            CountedLink(try await transport.webSocket(request, subprotocols: subprotocols), links)
        }

        func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link {
            CountedLink(try await transport.eventStream(request), links)
        }
    }

    private final class CountedLink: Link {
        private let link: any Link
        private let links: ObjectCounter

        init(_ link: any Link, _ links: ObjectCounter) {
            self.link = link
            self.links = links
            links.add(1)
        }

        deinit { links.add(-1) }

        func receive() async throws(ClientError) -> LinkEvent { try await link.receive() }
        func send(_ frame: LinkFrame) async throws(ClientError) { try await link.send(frame) }
        func drop() { link.drop() }
    }

    /// The number of this process's sockets that are connected to this local port.
    private static func sockets(to port: UInt16) throws -> Int {
        let digits = String(port, radix: 16, uppercase: true)
        let wanted = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
        let table = try KernelFile.read("/proc/self/net/tcp")
        // The kernel keeps sockets in TIME_WAIT (06) by itself.
        return table.split(separator: "\n").filter { line in
            let columns = line.split(separator: " ")
            return columns.count > 3 && columns[2] == wanted && columns[3] != "06"
        }.count
    }

    /// The reconnects take a minute on a loaded machine.
    private static let reconnects = TestBroker.isWanted ? 10_000 : 1_000

    @Test("Ten thousand reconnects leave no connection, no task and no timer behind")
    func reconnects() async throws {
        if Self.reconnects < 10_000 {
            SkippedTests.report("nine thousand of ten thousand reconnects: make interop-client")
        }
        let server = try ClosingServer()
        let (links, sleepers) = (ObjectCounter(), ObjectCounter())
        let system = ClientTime.system
        let time = ClientTime(
            now: system.now,
            sleep: { until in
                sleepers.add(1)
                defer { sleepers.add(-1) }
                try await system.sleep(until)
            }, fraction: { 0 })
        let transport = CountedTransport(transport: SocketTransport(server: try server.address), links: links)
        let socket = WebSocketClient<String, String>(transport, path: "/", time: time)
        var (opened, waits, most) = (0, 0, 0)
        for try await event in socket.events {
            switch event {
            case .opened: opened += 1
            case .waiting: waits += 1
            case .message, .undecodable, .closed: break
            }
            most = max(most, links.now)
            if waits == Self.reconnects { break }
        }
        #expect(opened > Self.reconnects / 2 && most <= 3, "\(opened) were opened, \(most) at a time")
        await socket.cancel()
        try await eventually("all is gone") {
            try links.now == 0 && sleepers.now == 0 && Self.sockets(to: server.port) == 0
        }
    }
}
