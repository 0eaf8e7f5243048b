import Basics
import Domain
import Foundation
import Observability
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// The messages that a daemon publishes, and the queries that it needs for that.
@Suite struct ConversationFeedsTests {
    private struct World {
        let store: ConversationStore
        let feeds: ConversationFeeds
        let published = EventRecorder<Int>()
        let pair: UUID

        init(_ database: ScheduleDatabase, patience: Duration, hears user: String) async throws {
            store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota())
            let audience = ConnectedUsers()
            audience.enter(user)
            feeds = ConversationFeeds(
                store: store, log: Log(level: .error, format: nil), audience: audience, patience: patience
            ) { [published] page in
                for message in page.messages { published.append(message.offset) }
            }
            for user in 1...2 { _ = try await store.take(UserName("user\(user)"), for: DeviceID("d\(user)")) }
            pair = try await store.make(
                NewConversationRequest.decode(Array(#"{"deviceId":"d1","participants":["user2"]}"#.utf8))
            ).conversation.id
        }

        func send() async throws -> ConversationPage {
            let message = try OutgoingMessage(content: "x", target: .conversation(pair), id: nil)
            return try await store.send(message, by: DeviceID("d1")).entries[0].page
        }

        func receive(_ count: Int) async throws -> [Int] {
            var offsets: [Int] = []
            for _ in 0..<count { offsets.append(try await published.next()) }
            return offsets
        }

        func notify(_ offset: Int, from origin: String? = nil) async {
            await feeds.receive("\(pair) \(offset) \(origin ?? store.origin) user1.user2")
        }
    }

    private func with(
        patience: Duration = .seconds(3_600), hears user: String = "user2", _ body: (World) async throws -> Void
    ) async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await body(World(database, patience: patience, hears: user))
        }
    }

    @Test("Messages stored here are published in order without a query")
    func ownMessages() async throws {
        try await with { world in
            var pages: [ConversationPage] = []
            for _ in 1...4 { pages.append(try await world.send()) }
            await world.feeds.stored(pages[0])
            await world.notify(3)
            await world.feeds.stored(pages[2])
            await world.notify(1)
            await world.feeds.stored(pages[3])
            // The second message isn't published before it is stored.
            #expect(world.published.all == [1])
            await world.feeds.stored(pages[1])
            await world.feeds.stored(pages[1])
            #expect(world.published.all == [1, 2, 3, 4])
        }
    }

    @Test("Messages of another daemon are read, together with later ones")
    func others() async throws {
        try await with { world in
            var pages: [ConversationPage] = []
            for _ in 1...4 { pages.append(try await world.send()) }
            await world.feeds.stored(pages[0])
            await world.feeds.stored(pages[3])
            await world.notify(2, from: "another")
            await world.notify(3, from: "another")
            #expect(try await world.receive(4) == [1, 2, 3, 4])
        }
    }

    @Test("A message stored here that doesn't arrive is read from the database")
    func patience() async throws {
        try await with(patience: .milliseconds(1)) { world in
            for _ in 1...3 { _ = try await world.send() }
            await world.notify(1)
            #expect(try await world.receive(3) == [1, 2, 3])
        }
    }

    @Test("A feed without subscribers is removed")
    func nobody() async throws {
        try await with(hears: "somebody") { world in
            await world.feeds.stored(try await world.send())
            await world.notify(1, from: "another")
            #expect(world.published.all.isEmpty)
        }
    }

    @Test("Waiting messages arrive with their predecessor")
    func sweep() async throws {
        try await with { world in
            var pages: [ConversationPage] = []
            for _ in 1...3 { pages.append(try await world.send()) }
            for index in [0, 2] { await world.feeds.stored(pages[index]) }
            for _ in 0..<2 * ConversationFeeds.feedLimit {
                await world.feeds.stored(
                    ConversationPage(
                        conversation: UUID(), kind: .person, messages: [], lastOffset: 1, routingKey: "user1.user2"))
            }
            await world.feeds.stored(pages[1])
            #expect(world.published.all == [1, 2, 3])
        }
    }
}
