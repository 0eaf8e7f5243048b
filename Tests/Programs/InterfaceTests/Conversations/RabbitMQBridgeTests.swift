import AMQP
import Domain
import Foundation
import JourneyTestSupport
import LetsSwitch
import Settings
import TestSupport
import Testing

/// Conversations for the broker's clients, with a real broker and independent clients.
@Suite(.enabled(if: TestBroker.runs, Comment(rawValue: TestBroker.whySkipped)), .serialized)
struct RabbitMQBridgeTests {
    /// Runs the body with the test's own broker, which it may restart.
    private func with(_ body: (TestBroker, Journey) async throws -> Void) async throws {
        let broker = try await TestBroker.start()
        do {
            try await Journey.run { journey in try await body(broker, journey) }
        } catch {
            await broker.end()
            throw error
        }
        await broker.end()
    }

    private func bridged(_ broker: TestBroker) throws -> (inout Configuration) -> Void {
        let url = try AMQPURL(broker.url)
        return { $0.amqpURL = url }
    }

    private func awaitBridge(_ endpoint: ClientEndpoint) async throws {
        try await eventually("the bridge stands") {
            try await MetricsReading(endpoint)["letsswitch_bridge_connected"] == 1
        }
    }

    @Test(
        "Clients of the broker and of the server receive each message once",
        arguments: BrokerClient.Library.allCases)
    func bothWays(_ library: BrokerClient.Library) async throws {
        guard library.isInstalled else {
            return SkippedTests.report("\(library.rawValue) is missing: make setup-interop")
        }
        try await with { broker, journey in
            let endpoint = try await journey.daemon(bridged(broker))
            try await awaitBridge(endpoint)
            try await endpoint.makeUsers(1...3)
            let pair = try await endpoint.makeConversation(1, [2])
            let client = try await BrokerClient(library, "user2", broker.url)
            let peer = try await ConversationPeer.connect(to: endpoint, "d1")
            // A message from the daemon to the broker.
            try await endpoint.send(1, "Tea?", in: pair)
            let message = try await peer.receive("message")["message"]
            let received = try #require(try await client.receive(1).first)
            #expect(
                received["key"] == "user1.user2" && received["app"] == "letsswitch" && received["id"] == message["id"])
            for name in ["id", "content", "author", "conversation"] { #expect(received["body"][name] == message[name]) }
            let date = try #require(received["body"]["date"].int)
            #expect(try Instant(seconds: date + 978_307_200).description == #require(message["date"].string))
            // A message from the broker to the daemon.
            let id = UUID()
            try await client.send("user2", "Yes", to: "user1.user2", in: pair, id: id)
            let answer = try await peer.receive("message")
            #expect(answer["routingKey"] == "user1.user2" && answer["message"]["id"].string == id.uuidString)
            #expect(answer["message"]["author"] == "user2" && answer["message"]["offset"] == 2)
            // A repeated message, a message of the bridge itself, and an invalid one are delivered to nobody.
            try await client.send("user2", "Yes", to: "user1.user2", in: pair, id: id)
            try await client.send("user2", "own", to: "user1.user2", in: pair, app: "letsswitch")
            try await client.send("user3", "not mine", to: "user1.user2", in: pair)
            try await client.send("user2", "elsewhere", to: "user2.user3", in: pair)
            try await client.publish("[]", to: "user1.user2")
            try await client.send("user2", "nobody", to: "user2.nobody", in: UUID())
            // A group that doesn't exist yet is created.
            let group = UUID()
            try await client.send("user2", "all", to: "user3.user1.user2", in: group)
            let new = try await peer.receive("message")
            #expect(new["routingKey"] == "user1.user2.user3" && new["message"]["offset"] == 1)
            #expect(new["message"]["conversation"].string == group.uuidString)
            func count(_ name: String, _ label: String, _ metrics: MetricsReading) -> Double? {
                metrics.samples["letsswitch_bridge_\(name)_total{\(label)}"]
            }
            let metrics = try await MetricsReading.wait(at: endpoint) {
                count("received", "result=\"stored\"", $0) == 2
            }
            for (result, number) in [("repeated", 1.0), ("own", 2), ("rejected", 4)] {
                #expect(count("received", "result=\"\(result)\"", metrics) == number, "\(result)")
            }
            for (reason, number) in [("author", 1.0), ("malformed", 1), ("refused", 2)] {
                #expect(count("rejected", "reason=\"\(reason)\"", metrics) == number, "\(reason)")
            }
            // The client's queue contains each published message once, and none that the bridge has sent back.
            let contents = try await client.receive(8).map { $0["body"]["content"].string }
            #expect(contents == ["Yes", "Yes", "own", "not mine", "elsewhere", nil, "nobody", "all"])
            try await endpoint.send(1, "end", in: pair)
            #expect(try await client.receive(1).first?["body"]["content"] == "end")
            await client.end()
        }
    }

    @Test("After a broker's restart, waiting messages arrive once and in order")
    func restart() async throws {
        guard BrokerClient.Library.pika.isInstalled else {
            return SkippedTests.report("pika is missing: make setup-interop")
        }
        try await with { broker, journey in
            let (daemon, endpoint) = try await journey.daemonAndEndpoint(bridged(broker))
            try await awaitBridge(endpoint)
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let peer = try await ConversationPeer.connect(to: endpoint, "d1")
            try await broker.stop()
            for number in 1...5 { #expect(try await endpoint.send(1, "\(number)", in: pair).status == 201) }
            for number in 1...5 { #expect(try await peer.receive("message")["message"]["offset"].int == number) }
            #expect(try await journey.count("conversations.bridge_message") == 5)
            // The broker's client is connected before the daemon.
            await daemon.stop()
            try await broker.start()
            var client = try await BrokerClient(.pika, "user2", broker.url)
            let second = try await journey.daemonAndEndpoint(bridged(broker))
            #expect(try await client.receive(5).map { $0["body"]["content"] } == ["1", "2", "3", "4", "5"])
            try await journey.wait(until: "NOT EXISTS (SELECT FROM conversations.bridge_message)")
            // Messages sent while no daemon runs wait in the bridge's queue, also across a broker's restart.
            await second.daemon.stop()
            for number in 6...8 { try await client.send("user2", "\(number)", to: "user1.user2", in: pair) }
            await client.end()
            try await broker.stop()
            try await broker.start()
            let third = try await journey.daemon(bridged(broker))
            try await journey.wait(until: "(SELECT count(*) FROM conversations.message) = 8")
            // The broker is killed while a daemon runs.
            await broker.kill()
            try await broker.start()
            try await awaitBridge(third)
            client = try await BrokerClient(.pika, "user2", broker.url)
            let last = try await ConversationPeer.connect(to: third, "d1", after: [pair: 5])
            for number in 6...8 {
                #expect(try await last.receive("message")["message"]["content"].string == "\(number)")
            }
            try await client.send("user2", "9", to: "user1.user2", in: pair)
            #expect(try await last.receive("message")["message"]["content"] == "9")
            #expect(try await client.receive(1).map { $0["body"]["content"] } == ["9"])
            try await third.send(1, "10", in: pair)
            #expect(try await client.receive(1).map { $0["body"]["content"] } == ["10"])
            await client.end()
        }
    }

    @Test("The bridge works again after its exchange or binding is deleted")
    func topologyDeleted() async throws {
        guard BrokerClient.Library.pika.isInstalled else {
            return SkippedTests.report("pika is missing: make setup-interop")
        }
        try await with { broker, journey in
            let endpoint = try await journey.daemon(bridged(broker))
            try await awaitBridge(endpoint)
            try await endpoint.makeUsers(1...2)
            let peer = try await ConversationPeer.connect(to: endpoint, "d1")
            func bindings() async throws -> Bool {
                try await broker.run("list_bindings", "source_name", "destination_name")
                    .contains(/conv[ \t]+letsswitch\.bridge/)
            }
            let exchange = "{resource,<<\"/\">>,exchange,<<\"conv\">>}"
            let queue = "{resource,<<\"/\">>,queue,<<\"letsswitch.bridge\">>}"
            for (number, deletion) in [
                "rabbit_exchange:delete(\(exchange), false, <<\"test\">>).",
                "rabbit_binding:remove({binding,\(exchange),<<\"#\">>,\(queue),[]}, <<\"test\">>).",
            ].enumerated() {
                try await broker.run("eval", deletion)
                try await eventually("the binding is there again") { try await bindings() }
                let client = try await BrokerClient(.pika, "user2", broker.url)
                // The original clients' model encodes a message without optional values like this.
                try await client.publish(
                    "{\"content\":\"\(number)\",\"author\":\"user2\",\"date\":817030800.5}", to: "user1.user2")
                #expect(try await peer.receive("message")["message"]["content"].string == "\(number)")
                await client.end()
            }
        }
    }

    @Test("A message without a conversation goes to the group of exactly its participants")
    func groupWithoutConversation() async throws {
        guard BrokerClient.Library.pika.isInstalled else {
            return SkippedTests.report("pika is missing: make setup-interop")
        }
        try await with { broker, journey in
            let endpoint = try await journey.daemon(bridged(broker))
            try await awaitBridge(endpoint)
            try await endpoint.makeUsers(1...3)
            let group = try await endpoint.makeConversation(1, [2, 3])
            let peer = try await ConversationPeer.connect(to: endpoint, "d1")
            let client = try await BrokerClient(.pika, "user2", broker.url)
            for number in 1...2 {
                try await client.publish(
                    "{\"content\":\"\(number)\",\"author\":\"user2\",\"conversation\":\"8fKq2nVbT1cYwZ0aLd3E\"}",
                    to: "user3.user2.user1")
                let message = try await peer.receive("message")["message"]
                #expect(message["conversation"].string == group.uuidString && message["offset"].int == number)
            }
            await client.end()
        }
    }

    @Test(
        "Two daemons that share the bridge's queue handle each message once"
    )
    func several() async throws {
        guard BrokerClient.Library.pika.isInstalled else {
            return SkippedTests.report("pika is missing: make setup-interop")
        }
        try await with { broker, journey in
            let endpoints = [try await journey.daemon(bridged(broker)), try await journey.daemon(bridged(broker))]
            for endpoint in endpoints { try await awaitBridge(endpoint) }
            try await endpoints[0].makeUsers(1...2)
            let pair = try await endpoints[0].makeConversation(1, [2])
            let client = try await BrokerClient(.pika, "user2", broker.url)
            var peers: [ConversationPeer] = []
            for endpoint in endpoints { peers.append(try await ConversationPeer.connect(to: endpoint, "d1")) }
            for number in 1...20 { try await client.send("user2", "\(number)", to: "user1.user2", in: pair) }
            for peer in peers {
                for number in 1...20 {
                    let message = try await peer.receive("message")["message"]
                    #expect(message["content"].string == "\(number)" && message["offset"].int == number)
                }
            }
            for number in 21...40 { try await endpoints[number % 2].send(1, "\(number)", in: pair) }
            let received = try await client.receive(40).map { $0["body"]["content"].string }
            #expect(received == (1...40).map { "\($0)" })
            // The client's queue has one consumer. The bridge's queue has one for each daemon.
            let queues = try await broker.run("list_queues", "name", "consumers", "durable", "--no-table-headers")
            #expect(queues.contains(/letsswitch\.bridge\s+2\s+true/))
            #expect(queues.contains(/user2\.conv\s+[01]\s+false/))
            await client.end()
        }
    }

    @Test("The check reports whether the broker accepts what the bridge needs")
    func check() async throws {
        try await with { broker, journey in
            var configuration = Configuration()
            configuration.database = .url(journey.conninfo)
            configuration.amqpURL = try AMQPURL(broker.url)
            var check = ConfigurationCheck(of: configuration, at: 0)
            await check.checkBus(of: configuration)
            #expect(
                check.isPassed
                    && check.report.contains(
                        "bridge: conversations are sent to and received from amqp://guest@127.0.0.1:")
            )
            // The exchange is now durable, so a client that declares it differently is refused.
            let exchange = "{resource,<<\"/\">>,exchange,<<\"conv\">>}"
            try await broker.run("eval", "rabbit_exchange:delete(\(exchange), false, <<\"x\">>).")
            try await broker.run(
                "eval", "rabbit_exchange:declare(\(exchange), topic, true, false, false, [], <<\"x\">>).")
            var refused = ConfigurationCheck(of: configuration, at: 0)
            await refused.checkBus(of: configuration)
            #expect(refused.isPassed && refused.report.contains("warning: bridge: "))
            #expect(refused.report.contains("inequivalent arg 'durable' for exchange 'conv'"))
        }
    }
}
