import AMQP
import Basics
import Glibc
import TestSupport
import Testing

/// A connection to a real broker, and an independent client of it.
@Suite(.enabled(if: TestBroker.runs, Comment(rawValue: TestBroker.whySkipped)), .serialized)
struct RabbitMQConnectionTests {
    private static let broker = Task { try await TestBroker.start() }
    private let durable = AMQPQueue("kept", isDurable: true)

    /// Runs the body with a connected connection, and stops it at the end.
    private func withConnection(
        _ declarations: [AMQPDeclaration],
        _ body: (AMQPConnection, EventRecorder<AMQPEvent>) async throws -> Void
    ) async throws {
        let url = try AMQPURL(try await Self.broker.value.url)
        let connection = AMQPConnection(AMQPConfiguration(url: url, name: "test"), declaring: declarations)
        let events = EventRecorder<AMQPEvent>()
        connection.start { events.append($0) }
        do {
            try await events.next("connected") { $0 == .connected }
            try await body(connection, events)
        } catch {
            await connection.stop()
            throw error
        }
        await connection.stop()
    }

    private func next(_ events: EventRecorder<AMQPEvent>) async throws -> AMQPDelivery {
        let event = try await events.next("a message") { if case .delivered = $0 { true } else { false } }
        guard case .delivered(let delivery) = event else { throw ClientFailure.violation("\(event)") }
        return delivery
    }

    private func tool(_ name: String, _ arguments: [String]) async throws -> String {
        let child = try await ChildProcess.start(
            "/usr/bin/\(name)", ["--url=\(try await Self.broker.value.url)%2F"] + arguments, environment: [:])
        let status = try await child.waitForExit()
        guard status == .exited(0) else { throw ClientFailure.violation("\(name): \(child.text(of: .error))") }
        return child.text(of: .output)
    }

    @Test("A confirmed message is in the queue with its properties")
    func confirmed() async throws {
        try await withConnection([.queue(durable), .confirms]) { connection, _ in
            let properties = AMQPProperties(contentType: "text/plain", messageID: "1", isPersistent: true)
            try await connection.publish(
                (0..<100).map { AMQPMessage(to: "", key: "kept", Array("message \($0)".utf8), properties: properties) })
        }
        #expect(try await tool("amqp-get", ["--queue=kept"]) == "message 0")
        try await withConnection([.queue(durable), .consumption(queue: "kept", .explicit(ahead: 10))]) {
            connection, events in
            for number in 1..<100 {
                let delivery = try await next(events)
                #expect(delivery.body == Array("message \(number)".utf8))
                #expect(delivery.properties.contentType == "text/plain" && delivery.properties.isPersistent)
                connection.acknowledge(delivery)
            }
        }
    }

    @Test("A message is delivered again until it is acknowledged or rejected")
    func acknowledged() async throws {
        let name = "acknowledged"
        let queue = AMQPQueue(name)
        _ = try await tool("amqp-declare-queue", ["--queue=\(name)"])
        for text in ["one", "two", "three"] {
            _ = try await tool("amqp-publish", ["--routing-key=\(name)", "--body=\(text)"])
        }
        let declarations: [AMQPDeclaration] = [.queue(queue), .consumption(queue: name, .explicit(ahead: 2))]
        try await withConnection(declarations) { connection, events in
            let first = try await next(events)
            #expect(first.body == Array("one".utf8) && !first.isRedelivered)
            _ = try await next(events)
            connection.reject(first)
            #expect(try await next(events).body == Array("three".utf8))
            connection.reconnect(because: "the test says so")
            try await events.next("lost") { $0 == .lost(message: "the test says so") }
            try await events.next("connected again") { $0 == .connected }
            let again = try await next(events)
            #expect(again.body == Array("two".utf8) && again.isRedelivered)
            // The delivery came on the previous connection. This connection doesn't know it and ignores the
            // acknowledgement.
            connection.acknowledge(first)
            connection.acknowledge(again)
            let last = try await next(events)
            #expect(last.body == Array("three".utf8))
            connection.reject(last, isPutBack: true)
            let putBack = try await next(events)
            #expect(putBack.body == Array("three".utf8) && putBack.isRedelivered)
            connection.acknowledge(putBack)
        }
    }

    @Test("A slow consumer keeps its connection and receives all messages")
    func slowListener() async throws {
        var configuration = AMQPConfiguration(url: try AMQPURL(try await Self.broker.value.url), name: "slow")
        configuration.callTimeout = .seconds(1)
        let queue = AMQPQueue("slow", isAutoDeleted: true)
        let connection = AMQPConnection(
            configuration, declaring: [.queue(queue), .consumption(queue: "slow", .none)])
        let events = EventRecorder<AMQPEvent>()
        connection.start { event in
            // Blocks longer than a call may take.
            if case .delivered(let delivery) = event, delivery.body == Array("0".utf8) { usleep(3_000_000) }
            events.append(event)
        }
        try await events.next("connected") { $0 == .connected }
        try await withConnection([]) { other, _ in
            try await other.publish((0..<100).map { AMQPMessage(to: "", key: "slow", Array("\($0)".utf8)) })
        }
        for number in 0..<100 { #expect(try await next(events).body == Array("\(number)".utf8)) }
        let since = events.all.drop { $0 != .connected }
        #expect(since.count == 101, "never lost")
        await connection.stop()
    }

    @Test("A broker's refusal ends the connection with its message")
    func refused() async throws {
        try await withConnection([.confirms]) { connection, events in
            let error = await #expect(throws: AMQPError.self) {
                try await connection.publish([AMQPMessage(to: "none such", key: "k", [])])
            }
            #expect(error?.message.contains("404") == true, "\(String(describing: error))")
            try await events.next("connected again") { $0 == .connected }
        }
        let url = try AMQPURL(try await Self.broker.value.url)
        let other = AMQPConnection(
            AMQPConfiguration(url: url, name: "test"),
            declaring: [.queue(AMQPQueue("acknowledged", isDurable: true, longest: 3))])
        let events = EventRecorder<AMQPEvent>()
        let declaring = try await withQueue("acknowledged") {
            other.start { events.append($0) }
            return try await events.next("lost")
        }
        guard case .lost(let message) = declaring else { throw ClientFailure.violation("\(declaring)") }
        #expect(message.contains("406"), "\(message)")
        await #expect(throws: AMQPError.self) { try await other.publish([AMQPMessage(to: "", key: "k", [])]) }
        await other.stop()
    }

    private func withQueue<Value>(_ name: String, _ body: () async throws -> Value) async throws -> Value {
        _ = try await tool("amqp-declare-queue", ["--queue=\(name)"])
        return try await body()
    }

    @Test("A silent peer makes the attempt time out")
    func silence() async throws {
        let relay = try StallingRelay(to: .tcp(host: "127.0.0.1", port: try await Self.broker.value.port))
        relay.stall()
        var configuration = AMQPConfiguration(
            url: try AMQPURL("amqp://guest:guest@127.0.0.1:\(relay.port)"), name: "test")
        configuration.connectTimeout = .milliseconds(300)
        let connection = AMQPConnection(configuration, declaring: [])
        let events = EventRecorder<AMQPEvent>()
        connection.start { events.append($0) }
        // The peer says nothing until the relay closes: only the attempt's own time ends it.
        try await events.next("lost") { if case .lost = $0 { true } else { false } }
        #expect(await Task { await connection.stop() }.ends(within: Deadline.standard))
        let count = events.all.count
        relay.close()
        #expect(events.all.count == count)
    }

    @Test("A broker that doesn't read makes publishing fail")
    func unread() async throws {
        let relay = try StallingRelay(to: .tcp(host: "127.0.0.1", port: try await Self.broker.value.port))
        var configuration = AMQPConfiguration(
            url: try AMQPURL("amqp://guest:guest@127.0.0.1:\(relay.port)"), name: "test")
        configuration.callTimeout = .seconds(1)
        let connection = AMQPConnection(configuration, declaring: [])
        let events = EventRecorder<AMQPEvent>()
        connection.start { events.append($0) }
        try await events.next("connected") { $0 == .connected }
        relay.stall()
        let message = AMQPMessage(to: "", key: "nobody's", [UInt8](repeating: 7, count: 100_000))
        var failures = 0
        // The broker reads nothing until the end: only a call's own time ends it.
        while failures < 3 {
            do throws(AMQPError) {
                try await connection.publish([message])
            } catch {
                failures += 1
            }
        }
        await connection.stop()
        relay.close()
    }
}
