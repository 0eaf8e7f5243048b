import Basics
import Domain
import Foundation
import Observability
import Postgres
import Rooms
import ScheduleTestSupport
import Server
import Sockets
import TestSupport
import Testing

@testable import Access
@testable import Conversations

/// Subscribers of conversations, without sockets, on a database.
@Suite struct ConversationShardTests {
    /// The messages' offsets and the causes of ends that the transport received.
    private final class Transport: ExclusiveConversationTransport {
        let received = EventRecorder<String>()
        weak var subscriber: ConversationSubscriber?

        func send(_ event: ConversationEvent) { received.append(event.type) }
        func send(_ messages: SubscriberMessages) {
            for message in messages.messages { received.append("\(message.offset)") }
        }
        func reportDrain() {}
        func admits(messages count: Int) -> Bool { true }
        var requester: Requester? { nil }
        var wantsPresence: Bool { false }
        /// The transport stays registered after its end, unlike a real connection.
        func end(_ cause: ConversationTransportEnd) { received.append("\(cause)") }
    }

    /// Two observers of a conversation's presence that aren't users. The first observes from the beginning, the other
    /// subscribes later.
    private final class Observers {
        static let numbers = [1_000_000, 1_000_001]

        let received = EventRecorder<[Int]>()
        private var first: ConversationPresence?
        private let other: ConversationPresence
        private let conversation: UUID

        init(of conversation: UUID, _ conversations: Conversations, on reactor: Reactor) {
            self.conversation = conversation
            other = ConversationPresence(of: Self.numbers[1], conversations, on: reactor, changed: nil)
            first = ConversationPresence(of: Self.numbers[0], conversations, on: reactor) { [unowned self] in
                if let users = first?.changedUsers(of: $0, orAlone: true) { received.append(users.sorted()) }
            }
            first?.enter(conversation)
        }

        func bringOther() { other.enter(conversation) }
    }

    /// The time by which tickets expire. It is long ago.
    private static let now = 1_000.0

    private struct World {
        let loop: EventLoop
        let conversations: Conversations
        let database: ScheduleDatabase
        let pair: UUID
        let observers = LoopLocal<Observers>()

        var store: ConversationStore { conversations.store }

        @discardableResult
        func send(_ content: String) async throws -> ConversationPage {
            let message = try OutgoingMessage(content: content, target: .conversation(pair), id: nil)
            return try await store.send(message, by: DeviceID("d1")).entries[0].page
        }

        /// The user leaves without a notification to this daemon.
        func leave() async throws {
            _ = try await store.set(ParticipantRequest.decode(.leave, Array(#"{"deviceId":"d2"}"#.utf8)), in: pair)
        }

        func withObservers<Result: Sendable>(_ body: @Sendable (Observers) -> Result) async -> Result {
            await loop.run { [conversations, observers, pair] reactor in
                body(observers.value(on: reactor) { Observers(of: pair, conversations, on: reactor) })
            }
        }

        func enter(_ identity: Identity) async throws -> (recorder: EventRecorder<String>, isInside: Bool) {
            let member = try ConversationMember(identity)
            return await loop.run { [conversations, loop] reactor in
                let transport = Transport()
                let subscriber = conversations.shard(on: reactor, loop: loop)
                    .enter(member, user: "user2", after: [:], transport)
                transport.subscriber = subscriber
                return (transport.received, subscriber != nil)
            }
        }
    }

    private func withWorld(_ body: (World) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let loops = try EventLoopGroup(count: 1)
            let loop = loops.loops[0]
            await loop.start()
            let rooms = Rooms(loops: loops.loops, anyRoomIsOpen: false, aleFrame: { _ in [] }, report: { _ in })
            let store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota())
            let conversations = Conversations(
                store: store, rooms: ConversationRooms(rooms, keys: RoomKeys()), loops: loops.loops,
                executor: globalConcurrentExecutor,
                rates: DeviceMessageRates(perSecond: 20, burst: 200),
                metrics: ConversationMetrics(quotas: CounterSet()),
                log: Log(level: .error, format: nil), now: { Self.now })
            for user in 1...2 { _ = try await store.take(UserName("user\(user)"), for: DeviceID("d\(user)")) }
            let request = try NewConversationRequest.decode(
                Array(#"{"deviceId":"d1","participants":["user2"]}"#.utf8))
            let pair = try await store.make(request).conversation.id
            try await body(World(loop: loop, conversations: conversations, database: database, pair: pair))
            await loop.stop()
        }
    }

    @Test("After lost notifications, all subscribers are checked")
    func rechecks() async throws {
        try await withWorld { world in
            let strangers = try await Array(0..<8).asyncMap {
                try await world.enter(.device(DeviceID("stranger\($0)")))
            }
            for stranger in strangers { try await stranger.recorder.next("the end") { $0 == "erased" } }
            let (received, _) = try await world.enter(.device(DeviceID("d2")))
            try await received.next("the handshake") { $0 == "handshake" }
            // This daemon isn't notified of it.
            try await world.send("Hello")
            world.conversations.resynchronise()
            try await received.next("what was missed") { $0 == "1" }
        }
    }

    @Test("A participant who left is removed without a notification")
    func missedLeaving() async throws {
        try await withWorld { world in
            let (received, _) = try await world.enter(.device(DeviceID("d2")))
            try await received.next("the handshake") { $0 == "handshake" }
            let presence = await world.withObservers(\.received)
            try await presence.next("the user") { $0.count == 2 }
            try await world.leave()
            world.conversations.resynchronise()
            try await presence.next("that it is gone") { $0.count == 1 }
        }
    }

    @Test("Only a new message brings back a participant who left")
    func lateMessage() async throws {
        try await withWorld { world in
            let (received, _) = try await world.enter(.device(DeviceID("d2")))
            try await received.next("the handshake") { $0 == "handshake" }
            let presence = await world.withObservers(\.received)
            try await presence.next("the user") { $0.count == 2 }
            let page = try await world.send("before")
            try await world.leave()
            await world.conversations.changes.receive("\(world.pair) left user2 user1")
            try await presence.next("that it is gone") { $0.count == 1 }
            await world.conversations.feeds.stored(page)
            try await received.next("what comes late") { $0 == "1" }
            await world.withObservers { $0.bringOther() }
            #expect(try await presence.next("who came") { $0.count > 1 } == Observers.numbers)
            await world.conversations.feeds.stored(try await world.send("again"))
            try await presence.next("the user again") { $0.count == 3 }
        }
    }

    @Test("A subscriber whose ticket has expired isn't admitted, and leaves no state")
    func expired() async throws {
        try await withWorld { world in
            let ticket = Ticket(device: try DeviceID("d2"), expiry: Self.now)
            let (received, isInside) = try await world.enter(.ticket(ticket))
            #expect(received.all == ["expired"] && !isInside)
            #expect(world.conversations.audience.isEmpty)
            let valid = Ticket(device: try DeviceID("d2"), expiry: Self.now + 1)
            #expect(try await world.enter(.ticket(valid)).isInside)
        }
    }

    @Test("A published message isn't published again")
    func feeds() async throws {
        try await withWorld { world in
            let text = String(repeating: "x", count: ConversationMessage.maximumScalars)
            for _ in 1...50 { try await world.send(text) }
            let published = EventRecorder<Int>()
            let audience = ConnectedUsers()
            audience.enter("user2")
            let feeds = ConversationFeeds(
                store: world.store, log: Log(level: .error, format: nil), audience: audience,
                publish: { page in
                    for message in page.messages { published.append(message.offset) }
                })
            let notify = { (offset: Int) in await feeds.receive("\(world.pair) \(offset) another user1.user2") }
            await notify(1)
            try await published.next("the first page") { $0 == 1 }
            await notify(50)
            try await published.next("the second page") { $0 > 14 }
            // A page is being read while the user leaves.
            audience.leave("user2")
            await notify(50)
            audience.enter("user2")
            await feeds.stored(try await world.send("51"))
            try await published.next("what was said since") { $0 == 51 }
            await feeds.stored(try await world.send("52"))
            try await published.next("what was said then") { $0 == 52 }
            let offsets = published.all
            #expect(offsets.count == Set(offsets).count, "\(offsets)")
        }
    }
}
