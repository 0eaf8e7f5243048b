import AMQP
import Rooms
import TestSupport
import Testing

@testable import Daemons

/// RabbitMQ as the bus, over TLS.
@Suite(.enabled(if: TestBroker.runs, Comment(rawValue: TestBroker.whySkipped)))
struct RabbitMQTLSTests {
    @Test("With amqps:// only a broker with a trusted certificate is accepted")
    func verification() async throws {
        let (authority, stranger) = (try await TestAuthority(), try await TestAuthority())
        let broker = try await TestBroker.start(as: try await authority.issue())
        let url = try AMQPURL(broker.tlsURL)
        #expect(try await broker.user() != 0, "an ordinary user")

        let (one, other) = (DaemonID(), DaemonID())
        let buses = [one, other].map { bus($0, url, authorities: authority.file) }
        let events = EventRecorder<BusEvent>()
        await buses[0].start { _ in }
        await buses[1].start { events.append($0) }
        try await events.next("connected") { $0 == .connected }
        try await eventually("a packet sent") {
            (try? await buses[0].send([BusPacket(to: .everyDaemon, [7])])) != nil
        }
        try await events.next("a packet") { $0 == .received(from: one, [7]) }
        for bus in buses { await bus.stop() }

        try await expectRefusal(url, by: stranger.file)
        // The system's list of authorities doesn't contain the test's authority.
        try await expectRefusal(url, by: nil)
        try await broker.stop()
        try await broker.setIdentity(try await authority.issue(hosts: "DNS:broker.example"))
        try await broker.start()
        try await expectRefusal(url, by: authority.file)
        await broker.end()
    }

    private func bus(_ id: DaemonID, _ url: AMQPURL, authorities: String?) -> AMQPBus {
        var configuration = AMQPConfiguration(url: url, name: "test \(id)")
        if let authorities { configuration.authorities = authorities }
        return AMQPBus(id, configuration)
    }

    /// Checks that the bus never connects, and reports why.
    private func expectRefusal(_ url: AMQPURL, by authorities: String?) async throws {
        let bus = bus(DaemonID(), url, authorities: authorities)
        let events = EventRecorder<BusEvent>()
        await bus.start { events.append($0) }
        guard case .lost(let message) = try await events.next("an answer") else {
            throw ClientFailure.violation("a broker is believed that nobody vouches for")
        }
        #expect(
            message.contains("localhost") && (message.contains("SSL") || message.contains("certificate")), "\(message)")
        await bus.stop()
        #expect(!events.all.contains(.connected))
    }
}
