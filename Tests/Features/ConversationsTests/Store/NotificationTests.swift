import Domain
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Which participants are notified of a message, in the database.
@Suite struct NotificationTests {
    private struct World {
        let database: ScheduleDatabase
        let store: ConversationStore
        let group: UUID

        func send(_ user: Int, _ content: String) async throws {
            _ = try await store.send(
                OutgoingMessage(content: content, target: .conversation(group), id: nil),
                by: DeviceID(stored: "d\(user)"))
        }

        /// The second and third user block the first, who sends many messages.
        func flood(from first: Int) async throws {
            try await database.run(
                """
                INSERT INTO core.block (id, device_id, blocked_id, name, blocked_at, used_at)
                SELECT gen_random_uuid(), own, 'd1', 'user1', core.clock(), core.clock()
                FROM unnest(ARRAY['d2', 'd3']) AS own
                """)
            try await database.run(
                """
                INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
                SELECT '\(group)', n, gen_random_uuid(), own.id, 'x', core.clock()
                FROM conversations.chat_user AS own, generate_series(\(first), 30000) AS n WHERE own.name = 'user1'
                """)
            try await database.run("UPDATE conversations.conversation SET last_number = 30000")
        }

        /// Waiting notifications, as `<channel> <user's name>`.
        func waiting() async throws -> [String] {
            try await database.run(
                """
                SELECT concat_ws(' ', delivery.channel, own.name) AS text FROM core.delivery
                JOIN conversations.chat_user AS own ON own.id = delivery.user_id ORDER BY 1
                """
            ).map { try $0.string("text") }
        }

        func deleteDeliveries() async throws { try await database.run("DELETE FROM core.delivery") }

        /// Leases a provider's notifications. Returns their ids and how many messages each is about.
        func lease(_ provider: String = "ntfy") async throws -> (ids: [Int], messages: [Int]) {
            let rows = try await database.run(
                "SELECT id, messages FROM notifications.lease_deliveries('\(provider)', 100, 100, 60) WHERE verdict = 'send'"
            )
            return (try rows.map { try $0.integer("id") }, try rows.map { try $0.integer("messages") })
        }

        /// Reports notifications as sent, or has them tried again in an hour.
        func finish(_ ids: [Int], isSent: Bool = true) async throws {
            let list = "{\(ids.map(String.init).joined(separator: ","))}"
            let again = ids.map { _ in "1" }.joined(separator: ",")
            try await database.run(
                isSent
                    ? "SELECT notifications.finish_deliveries('\(list)', '{}', '{}', '{}', '{}', '{}', '{}')"
                    : """
                    SELECT notifications.finish_deliveries(
                        '{}', '{}', '{}', '\(list)', '{\(again)}', array_fill(true, ARRAY[\(ids.count)]),
                        array_fill(3600::double precision, ARRAY[\(ids.count)]))
                    """)
        }
    }

    /// Makes a group of three users. The second and the third have an address for each provider.
    private func with(_ providers: [String] = ["ntfy"], _ body: (World) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z") { database in
            let store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota(StorageLimits()))
            for user in 1...3 {
                _ = try await store.take(UserName("user\(user)"), for: DeviceID(stored: "d\(user)"))
                if user == 1 { continue }
                try await database.run(
                    "SELECT notifications.register_address('d\(user)', 'ntfy', 't\(user)', '{}', 10, false)")
            }
            for provider in providers { try await database.run("SELECT notifications.start_provider('\(provider)')") }
            let made = try await store.make(
                NewConversationRequest(
                    device: DeviceID(stored: "d1"), participants: [UserName("user2"), UserName("user3")], id: nil))
            try await body(World(database: database, store: store, group: made.conversation.id))
        }
    }

    @Test("Each absent user has one waiting notification, at most one per minute")
    func gathered() async throws {
        try await with([]) { world in
            try await world.send(1, "x")
            #expect(try await world.waiting().isEmpty)
        }
        try await with { world in
            try await world.send(1, "first")
            #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            let first = try await world.lease()
            #expect(first.messages == [1, 1])
            // These notifications are being sent. Messages stored meanwhile belong to the next notification.
            try await world.database.setClock("2026-11-22T10:00:20Z")
            for number in 0..<5 { try await world.send(1, "\(number)") }
            #expect(try await world.waiting().count == 2)
            // The result is written twice, as after a lost answer.
            for _ in 0..<2 { try await world.finish(first.ids) }
            #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            #expect(try await world.lease().ids.isEmpty)
            try await world.database.setClock("2026-11-22T10:01:00Z")
            let second = try await world.lease()
            #expect(second.messages == [5, 5])
            try await world.finish(second.ids)
            #expect(try await world.waiting().isEmpty)
            // user3 sends a message. The others are notified, except one without a provider.
            try await world.send(3, "mine")
            #expect(try await world.waiting() == ["ntfy user2"])
        }
    }

    @Test("A message committed during a notification is part of the next one")
    func committedLate() async throws {
        try await with { world in
            try await world.send(1, "first")
            try await world.finish(try await world.lease().ids)
            try await world.database.setClock("2026-11-22T10:00:20Z")
            try await world.send(1, "second")
            // This transaction still sees a waiting notification for the message.
            let speaker = try await PostgresSession.connect(world.database.configuration)
            let watcher = try await PostgresSession.connect(world.database.configuration)
            try await world.database.setClock("2026-11-22T10:00:59Z")
            try await speaker.execute("BEGIN")
            try await speaker.execute(
                """
                SELECT conversations.send_messages(
                    'd1', ARRAY['\(world.group)'::uuid], ARRAY[gen_random_uuid()], 'third', NULL, 10, true, true, '')
                """)
            try await world.database.setClock("2026-11-22T10:01:00Z")
            let second = try await world.lease()
            #expect(second.messages == [1, 1])
            let finishing = Task { try await world.finish(second.ids) }
            try await eventually("the end waits for what is being said") {
                let waits = try await watcher.execute(
                    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
                return waits?.isEmpty == false
            }
            try await speaker.execute("COMMIT")
            try await finishing.value
            for session in [speaker, watcher] { await session.close() }
            #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            try await world.database.setClock("2026-11-22T10:02:00Z")
            #expect(try await world.lease().messages == [1, 1])
        }
    }

    @Test("During an outage, one notification waits for each user")
    func outage() async throws {
        try await with { world in
            for minute in 10..<30 {
                try await world.database.setClock("2026-11-22T10:\(minute):00Z")
                try await world.send(1, "\(minute)")
                if minute == 20 { try await world.finish(try await world.lease().ids, isSent: false) }
                #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            }
            #expect(try await world.lease().ids.isEmpty, "they are tried again an hour later")
            try await world.database.setClock("2026-11-23T10:00:00Z")
            try await world.send(1, "next day")
            try await world.database.setClock("2026-11-23T12:00:00Z")
            let sent = try await world.lease()
            #expect(sent.messages == [21, 21])
            try await world.finish(sent.ids)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("Each notification contains the unread messages since the previous one")
    func contents() async throws {
        try await with { world in
            for content in ["1", "2"] { try await world.send(1, content) }
            try await world.database.setClock("2026-11-22T10:00:30Z")
            try await world.send(2, "3")
            try await world.send(1, "4")
            func untold(_ from: Int, _ until: Int = 4) async throws -> (count: Int, authors: String?) {
                let rows = try await world.database.run(
                    """
                    SELECT unread.* FROM conversations.chat_user AS own
                    CROSS JOIN LATERAL conversations.unread_messages(own.id, '\(world.group)', \(from), \(until)) AS unread
                    WHERE own.name = 'user3'
                    """)
                guard let row = rows.first else { return (0, nil) }
                return (try row.integer("messages"), try row.optionalString("authors"))
            }
            // The first notification covers the first message, the second the rest.
            #expect(try await untold(1, 1) == (1, "user1"))
            #expect(try await untold(2) == (3, "user1,user2"))
            let read = ParticipantRequest(device: DeviceID(stored: "d3"), action: .read(offset: 3))
            _ = try await world.store.set(read, in: world.group)
            #expect(try await untold(2) == (1, "user1"))
            let mute = ParticipantRequest(device: DeviceID(stored: "d3"), action: .mute(true))
            _ = try await world.store.set(mute, in: world.group)
            #expect(try await untold(2) == (0, nil))
        }
    }

    @Test("A notification reads at most a thousand messages of a blocked user")
    func blocked() async throws {
        try await with { world in
            try await world.send(1, "first")
            try await world.flood(from: 2)
            let visits = try await world.database.visits(
                """
                (SELECT unread.* FROM conversations.chat_user AS own
                CROSS JOIN LATERAL conversations.unread_messages(own.id, '\(world.group)', 1, 30000) AS unread
                WHERE own.name = 'user3')
                """)
            #expect(visits.allSatisfy { $0 < 10_000 }, "\(visits)")
            // A later message by another user gets a notification.
            try await world.send(2, "after")
            #expect(try await world.lease().messages == [1])
        }
    }

    @Test("A notification contains its own message after many of a blocked user")
    func behindBlocked() async throws {
        try await with { world in
            try await world.send(2, "wanted")
            try await world.flood(from: 2)
            #expect(try await world.lease().messages == [1])
        }
    }

    @Test("Only users without a live daemon are notified")
    func listening() async throws {
        try await with { world in
            let (alive, dead) = (UUID(), UUID())
            for daemon in [alive, dead] {
                try await world.database.run(
                    "SELECT operations.beat('\(daemon)', 'box', '1', 1, 'none', '{}', '{}', false, NULL, 0, 0)")
            }
            let stores = [alive, dead].map { ConnectedUserStore(database: world.database.client, daemon: $0) }
            try await stores[0].set(came: ["user2", "nobody"], left: ["user3"])
            try await stores[1].set(came: ["user3"], left: [])
            try await world.send(1, "x")
            #expect(try await world.waiting().isEmpty)
            try await world.database.setClock("2026-11-22T10:02:00Z")
            try await world.database.run(
                "SELECT operations.beat('\(alive)', 'box', '1', 1, 'none', '{}', '{}', false, NULL, 0, 0)")
            try await world.send(1, "x")
            #expect(try await world.waiting() == ["ntfy user3"])
            try await world.deleteDeliveries()
            try await stores[0].set(came: [], left: ["user2"])
            try await world.send(1, "x")
            #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            try await stores[0].set(came: ["user1"], left: [])
            try await world.database.run("SELECT operations.stop_daemon('\(dead)')")
            try await stores[0].remove()
            #expect(try await world.database.count("conversations.connected_user") == 0)
        }
    }

    @Test("A daemon that was declared dead but lives still has its listeners")
    func givenUp() async throws {
        try await with { world in
            let (slow, other) = (UUID(), UUID())
            func beat(_ daemon: UUID, gone: UUID? = nil) async throws {
                let gone = gone.map { "'{\($0)}', '{1}'" } ?? "'{}', '{}'"
                try await world.database.run(
                    "SELECT operations.beat('\(daemon)', 'box', '1', 1, 'none', \(gone), false, NULL, 0, 0)")
            }
            try await beat(slow)
            try await ConnectedUserStore(database: world.database.client, daemon: slow).set(came: ["user2"], left: [])
            try await world.database.setClock("2026-11-22T10:01:00Z")
            try await beat(other, gone: slow)
            try await ConnectedUserStore(database: world.database.client, daemon: other).remove()
            try await world.send(1, "nobody can know")
            #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            try await world.deleteDeliveries()
            try await beat(slow)
            try await world.send(1, "here again")
            #expect(try await world.waiting() == ["ntfy user3"])
            // A daemon that has been silent for this long counts as dead.
            try await beat(other, gone: slow)
            try await world.database.setClock("2026-11-22T12:00:00Z")
            try await ConnectedUserStore(database: world.database.client, daemon: other).remove()
            #expect(try await world.database.count("conversations.connected_user") == 0)
        }
    }

    @Test("The webhook is notified of every absent user, with or without an address")
    func webhook() async throws {
        try await with(["webhook"]) { world in
            try await world.send(2, "x")
            #expect(try await world.waiting() == ["webhook user1", "webhook user3"])
        }
    }
}
