import AMQP
import Basics
import Domain
import Foundation
import Observability
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Messages that are sent to a simulated broker.
@Suite struct BridgeOutboxTests {
    /// Accepts or refuses published messages.
    private final class Broker: Sendable {
        let published = EventRecorder<AMQPMessage>()
        let refusals = EventRecorder<Int>()
        let isTaking = Locked(true)
        /// The application whose queue is full.
        let full = Locked<String?>(nil)

        func publish(_ messages: [AMQPMessage]) throws(AMQPError) {
            guard isTaking.withLock({ $0 }) else {
                refusals.append(messages.count)
                throw .refused("the broker takes nothing")
            }
            for message in messages { published.append(message) }
            guard let full = full.withLock({ $0 }) else { return }
            let places = messages.indices.filter { messages[$0].routingKey.contains(full) }
            if !places.isEmpty { throw .rejected(places: places) }
        }

        /// The contents sent, in order.
        func contents() throws -> [String?] {
            try published.all.map { try TestJSON(parsing: $0.body)["content"].string }
        }
    }

    private struct World {
        let database: ScheduleDatabase
        let store: ConversationStore

        func send(_ user: Int, _ content: String, to others: [Int]) async throws {
            _ = try await store.send(
                OutgoingMessage(
                    content: content, target: .participants(others.map { try UserName("user\($0)") }), id: nil),
                by: DeviceID(stored: "d\(user)"))
        }

        func outbox(_ broker: Broker, daemon: UUID = UUID()) -> BridgeOutbox {
            BridgeOutbox(
                store: BridgeStore(database: database.client, daemon: daemon), metrics: BridgeMetrics(),
                log: Log(level: .error, format: nil), settlingTime: .zero
            ) { messages throws(AMQPError) in try broker.publish(messages) }
        }
    }

    private func with(_ body: (World) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota(StorageLimits()))
            for user in 1...3 {
                _ = try await store.take(UserName("user\(user)"), for: DeviceID(stored: "d\(user)"))
            }
            try await BridgeStore(database: database.client, daemon: UUID()).see()
            try await body(World(database: database, store: store))
        }
    }

    private func running(_ outbox: BridgeOutbox, _ body: () async throws -> Void) async throws {
        let run = Task { await outbox.run() }
        do {
            try await body()
        } catch {
            outbox.stop()
            await run.value
            throw error
        }
        outbox.stop()
        await run.value
    }

    @Test("Messages from before the connection are published in order")
    func order() async throws {
        try await with { world in
            for number in 0..<40 { try await world.send(1, "\(number)", to: [2]) }
            let broker = Broker()
            broker.isTaking.withLock { $0 = false }
            let outbox = world.outbox(broker)
            try await running(outbox) {
                outbox.connected()
                try await broker.refusals.next("a refusal") { _ in true }
                #expect(try await world.database.count("conversations.bridge_message") == 40)
                broker.isTaking.withLock { $0 = true }
                try await eventually("all of them") { broker.published.all.count == 40 }
                #expect(try broker.contents() == (0..<40).map { "\($0)" })
                #expect(broker.published.all.allSatisfy { $0.routingKey == "user1.user2" })
                try await world.send(2, "after", to: [1, 3])
                outbox.lookAgain()
                try await eventually("the next") { broker.published.all.last?.routingKey == "user1.user2.user3" }
                try await eventually("an empty outbox") {
                    try await world.database.count("conversations.bridge_message") == 0
                }
            }
        }
    }

    @Test("A full queue doesn't delay the others")
    func full() async throws {
        try await with { world in
            for number in 0..<10 { try await world.send(1, "\(number)", to: [number == 4 ? 3 : 2]) }
            let broker = Broker()
            broker.full.withLock { $0 = "user3" }
            let outbox = world.outbox(broker)
            try await running(outbox) {
                outbox.connected()
                try await eventually("an empty outbox") {
                    try await world.database.count("conversations.bridge_message") == 0
                }
                let counts = Dictionary(try broker.contents().map { ($0, 1) }, uniquingKeysWith: +)
                #expect(counts.count == 10 && counts["4"] == 3 && counts["5"] == 1)
            }
        }
    }

    @Test("A daemon that can't publish releases its lease")
    func release() async throws {
        try await with { world in
            let (broken, sound) = (Broker(), Broker())
            broken.isTaking.withLock { $0 = false }
            let (first, second) = (world.outbox(broken), world.outbox(sound))
            try await world.send(1, "x", to: [2])
            try await running(first) {
                first.connected()
                try await broken.refusals.next("a refusal") { _ in true }
                try await running(second) {
                    second.connected()
                    try await eventually("the other sends") { try sound.contents() == ["x"] }
                }
            }
        }
    }

    @Test("Another daemon continues when the publishing one has ended")
    func lease() async throws {
        try await with { world in
            let brokers = [Broker(), Broker()]
            let outboxes = brokers.map { world.outbox($0) }
            try await running(outboxes[1]) {
                try await running(outboxes[0]) {
                    outboxes[0].connected()
                    try await world.send(1, "first", to: [2])
                    outboxes[0].lookAgain()
                    try await eventually("it is sent") { brokers[0].published.all.count == 1 }
                    outboxes[1].connected()
                    outboxes[1].lookAgain()
                    for number in 0..<10 {
                        try await world.send(1, "\(number)", to: [2])
                        for outbox in outboxes { outbox.lookAgain() }
                    }
                    try await eventually("all of them") {
                        brokers.map { $0.published.all.count }.reduce(0, +) == 11
                    }
                    #expect(brokers[0].published.all.count == 11, "the first has the lease")
                }
                try await world.send(1, "after", to: [2])
                // A new connection makes the outbox look for messages at once.
                outboxes[1].connected()
                try await eventually("the other sends") { try brokers[1].contents() == ["after"] }
            }
        }
    }
}
