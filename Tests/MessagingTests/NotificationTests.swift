import Domain
import Foundation
import Postgres
import ScheduleTestSupport
import Scheduling
import TestSupport
import Testing

@testable import Messaging

/// Who is to be notified of what is said, in the database.
@Suite struct NotificationTests {
    private struct World {
        let database: ScheduleDatabase
        let store: ConversationStore
        let group: UUID

        func say(_ user: Int, _ content: String) async throws {
            _ = try await store.send(
                OutgoingMessage(content: content, target: .conversation(group), id: nil),
                by: DeviceID(stored: "d\(user)"))
        }

        /// What waits, as `<channel> <user's name>`.
        func waiting() async throws -> [String] {
            try await database.run(
                """
                SELECT concat_ws(' ', delivery.channel, own.name) AS text FROM letsswitch.delivery
                JOIN letsswitch.chat_user AS own ON own.id = delivery.user_id ORDER BY 1
                """
            ).map { try $0.string("text") }
        }

        func forget() async throws { try await database.run("DELETE FROM letsswitch.delivery") }
    }

    /// Three in a group, of whom the second and the third have a topic.
    private func with(_ providers: [String] = ["ntfy"], _ body: (World) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z") { database in
            let store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota(StorageLimits()))
            for user in 1...3 {
                _ = try await store.take(UserName("user\(user)"), for: DeviceID(stored: "d\(user)"))
                if user == 1 { continue }
                try await database.run("SELECT letsswitch.register_address('d\(user)', 'ntfy', 't\(user)', '{}', 10)")
            }
            for provider in providers { try await database.run("SELECT letsswitch.start_provider('\(provider)')") }
            let made = try await store.make(
                NewConversationRequest(
                    device: DeviceID(stored: "d1"), participants: [UserName("user2"), UserName("user3")], id: nil))
            try await body(World(database: database, store: store, group: made.conversation.id))
        }
    }

    @Test("Each who isn't there has one waiting, and the next a minute later; where nobody sends there is none")
    func gathered() async throws {
        try await with([]) { world in
            try await world.say(1, "x")
            #expect(try await world.waiting().isEmpty)
        }
        try await with { world in
            try await world.say(1, "first")
            #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            try await world.database.setClock("2026-11-22T10:00:20Z")
            for number in 0..<5 { try await world.say(1, "\(number)") }
            #expect(try await world.waiting().count == 4, "those of the next minute")
            let due = try await world.database.run(
                """
                SELECT DISTINCT extract(epoch FROM next_try_at - created_at)::bigint AS wait
                FROM letsswitch.delivery ORDER BY 1
                """)
            #expect(try due.map { try $0.integer("wait") } == [0, 40])
            // user3 speaks: the others are told, of whom one has no way, and the other waits already.
            try await world.say(3, "mine")
            #expect(try await world.waiting().count == 4)
        }
    }

    @Test("Each tells of what begins with it, up to the next one, unread, and of others")
    func told() async throws {
        try await with { world in
            for content in ["1", "2"] { try await world.say(1, content) }
            try await world.database.setClock("2026-11-22T10:00:30Z")
            try await world.say(2, "3")
            try await world.say(1, "4")
            func untold(_ from: Int) async throws -> (count: Int, authors: String?) {
                let rows = try await world.database.run(
                    """
                    SELECT told.* FROM letsswitch.chat_user AS own
                    CROSS JOIN LATERAL letsswitch.untold_messages(own.id, '\(world.group)', \(from)) AS told
                    WHERE own.name = 'user3'
                    """)
                guard let row = rows.first else { return (0, nil) }
                return (try row.integer("messages"), try row.optionalString("authors"))
            }
            // The first told of the first; the second of the rest.
            #expect(try await untold(1) == (1, "user1"))
            #expect(try await untold(2) == (3, "user1,user2"))
            let read = ParticipantRequest(device: DeviceID(stored: "d3"), action: .read(offset: 3))
            _ = try await world.store.set(read, in: world.group)
            #expect(try await untold(2) == (1, "user1"))
            let mute = ParticipantRequest(device: DeviceID(stored: "d3"), action: .mute(true))
            _ = try await world.store.set(mute, in: world.group)
            #expect(try await untold(2) == (0, nil))
        }
    }

    @Test("Who listens on a daemon that is alive has none; a daemon that has died, or ended, has nobody")
    func listening() async throws {
        try await with { world in
            let (alive, dead) = (UUID(), UUID())
            for daemon in [alive, dead] {
                try await world.database.run("SELECT letsswitch.beat('\(daemon)', 'box', '1', 1, 'none', '{}', '{}')")
            }
            let stores = [alive, dead].map { ListenerStore(database: world.database.client, daemon: $0) }
            try await stores[0].set(came: ["user2", "nobody"], left: ["user3"])
            try await stores[1].set(came: ["user3"], left: [])
            try await world.say(1, "x")
            #expect(try await world.waiting().isEmpty)
            try await world.database.setClock("2026-11-22T10:02:00Z")
            try await world.database.run("SELECT letsswitch.beat('\(alive)', 'box', '1', 1, 'none', '{}', '{}')")
            try await world.say(1, "x")
            #expect(try await world.waiting() == ["ntfy user3"])
            try await world.forget()
            try await stores[0].set(came: [], left: ["user2"])
            try await world.say(1, "x")
            #expect(try await world.waiting() == ["ntfy user2", "ntfy user3"])
            try await stores[0].set(came: ["user1"], left: [])
            try await world.database.run("SELECT letsswitch.farewell('\(dead)')")
            try await stores[0].forget()
            #expect(try await world.database.count("listener") == 0)
        }
    }

    @Test("The webhook is told of everybody who isn't there, whether or not there is an address")
    func webhook() async throws {
        try await with(["webhook"]) { world in
            try await world.say(2, "x")
            #expect(try await world.waiting() == ["webhook user1", "webhook user3"])
        }
    }
}
