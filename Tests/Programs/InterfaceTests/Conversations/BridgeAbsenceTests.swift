import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// A daemon without a broker doesn't use the bridge.
@Suite struct BridgeAbsenceTests {
    @Test("Without --amqp-url librabbitmq isn't loaded")
    func absent() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process()
            // The process ends when the daemon object is released.
            defer { withExtendedLifetime(daemon) {} }
            try await endpoint.makeUsers(1...2)
            try await endpoint.send(1, "x", in: try await endpoint.makeConversation(1, [2]))
            // The kernel returns this file one page at a time, so it must be read to its end.
            let file = try #require(FileHandle(forReadingAtPath: "/proc/\(daemon.process.pid)/maps"))
            let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            #expect(maps.contains("libpq") && !maps.contains("librabbitmq"))
            #expect(try await journey.count("conversations.bridge_message") == 0)
            #expect(try await !endpoint.get("/metrics").text.contains("letsswitch_bridge"))
        }
    }

    @Test("With a broker that is down, only its messages wait")
    func away() async throws {
        try await Journey.run { journey in
            let port = try FreePort.find()
            let (daemon, endpoint) = try await journey.process(["--amqp-url", "amqp://127.0.0.1:\(port)"])
            defer { withExtendedLifetime(daemon) {} }
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let peer = try await ConversationPeer.connect(to: endpoint, "d2")
            #expect(try await endpoint.send(1, "x", in: pair).status == 201)
            #expect(try await peer.receive("message")["message"]["content"] == "x")
            #expect(try await journey.count("conversations.bridge_message") == 1)
            #expect(try await MetricsReading(endpoint)["letsswitch_bridge_connected"] == 0)
            #expect(try await endpoint.get("/readyz").status == 200)
        }
    }
}
