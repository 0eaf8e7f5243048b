import AMQP
import TestSupport
import Testing

@testable import Conversations
@testable import Domain

/// Random patterns and keys give the same matches as in a real broker.
@Suite(.enabled(if: TestBroker.runs, Comment(rawValue: TestBroker.whySkipped)), .serialized)
struct RabbitMQTopicTests {
    private static let patternCount = 100
    private static let keyCount = 100

    private static func words(_ alphabet: [String], _ most: Int, _ random: inout SeededRandom) -> String {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in
            alphabet[Int.random(in: alphabet.indices, using: &random)]
        }.joined(separator: ".")
    }

    @Test("Ten thousand random patterns and keys are routed as in RabbitMQ")
    func agrees() async throws {
        let broker = try await TestBroker.start()
        var random = SeededRandom(seed: 1)
        let patterns = (0..<Self.patternCount).map { _ in
            Self.words(["a", "b", "user1", "*", "#", "", "a*", "#b"], 5, &random)
        }
        let keys = (0..<Self.keyCount).map { _ in Self.words(["a", "b", "user1", "", "a*", "User1"], 6, &random) }
        let url = try AMQPURL(broker.url)
        let publisher = AMQPConnection(
            AMQPConfiguration(url: url, name: "publisher"),
            declaring: [.confirms]
                + patterns.indices.flatMap { number -> [AMQPDeclaration] in
                    [
                        .queue(AMQPQueue("pattern-\(number)")),
                        .binding(
                            AMQPBinding(queue: "pattern-\(number)", exchange: "amq.topic", key: patterns[number])),
                    ]
                })
        let states = EventRecorder<AMQPEvent>()
        publisher.start { states.append($0) }
        try await states.next("connected") { $0 == .connected }
        // The broker confirms the message when it is in every matching queue.
        try await publisher.publish(
            keys.indices.map { AMQPMessage(to: "amq.topic", key: keys[$0], Array("\($0)".utf8)) })
        for number in patterns.indices {
            try await publisher.publish([AMQPMessage(to: "", key: "pattern-\(number)", Array("end".utf8))])
        }
        var pairs = 0
        for (number, text) in patterns.enumerated() {
            let pattern = try #require(BindingPattern(text.utf8))
            let expected = try keys.indices.filter { pattern.matches(try #require(RoutingKey(keys[$0].utf8))) }
            #expect(try await content(of: "pattern-\(number)", url) == expected, "\(text)")
            pairs += keys.count
        }
        #expect(pairs == 10_000)
        await publisher.stop()
        await broker.end()
    }

    /// The numbers of the keys whose messages are in a queue.
    private func content(of queue: String, _ url: AMQPURL) async throws -> [Int] {
        let consumer = AMQPConnection(
            AMQPConfiguration(url: url, name: "consumer"), declaring: [.consumption(queue: queue, .none)])
        let events = EventRecorder<AMQPEvent>()
        consumer.start { events.append($0) }
        var numbers: [Int] = []
        while true {
            let event = try await events.next("a message") { if case .delivered = $0 { true } else { false } }
            guard case .delivered(let delivery) = event, let body = delivery.body,
                let number = Int(String(decoding: body, as: UTF8.self))
            else { break }
            numbers.append(number)
        }
        await consumer.stop()
        return numbers
    }
}
