import Domain
import ScheduleTestSupport
import Testing

/// Reads of conversations visit few rows, even with query plans made while the tables were empty or without statistics.
@Suite struct ConversationPlanTests {
    /// A thousand groups of the same 64 users, with two messages each, among 5,000 users.
    private static let growth = """
        WITH made AS (
            INSERT INTO conversations.chat_user (name, device_id, named_at)
            SELECT 'u' || n, 'd' || n, core.clock() FROM generate_series(10, 5000) AS n RETURNING id, device_id
        ), inside AS (
            SELECT id FROM conversations.user_of('d1')
            UNION ALL
            (SELECT id FROM made ORDER BY id LIMIT 63)
        ), grown AS (
            INSERT INTO conversations.conversation (id, kind, members, created_at, used_at, checked_at, last_number)
            SELECT gen_random_uuid(), 'group', '{}', core.clock(), core.clock() + n * interval '1 s',
                core.clock(), 2
            FROM generate_series(1, 1000) AS n RETURNING id
        ), joined AS (
            INSERT INTO conversations.participant (conversation_id, user_id) SELECT grown.id, inside.id FROM grown, inside
        )
        INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
        SELECT grown.id, n, gen_random_uuid(), (SELECT min(id) FROM inside), 'x', core.clock()
        FROM grown, generate_series(1, 2) AS n
        """

    @Test(
        "A read visits few more rows than it returns, even with an old plan",
        arguments: [
            // At most 1,000 conversations of the user, and 64 names for each of the 101 that are returned.
            ("list_conversations('d1', NULL, NULL, 101)", 40_000),
            ("positions('d1', 2000)", 10_000),
            ("histories('d1', NULL, NULL, '{}', 2000)", 15_000),
            (
                "list_messages('d1', (SELECT id FROM conversations.conversation ORDER BY used_at DESC LIMIT 1), 0, NULL, 100, 32768)",
                5_000
            ),
            ("names_in((SELECT id FROM conversations.conversation ORDER BY used_at DESC LIMIT 1))", 5_000),
            (
                """
                send_messages('d1', ARRAY(SELECT id FROM conversations.conversation ORDER BY used_at DESC LIMIT 1),
                    ARRAY[gen_random_uuid()], 'x', NULL, 10000, true, true, '')
                """, 6_000
            ),
        ])
    func plans(call: String, most: Int) async throws {
        try await ConversationWorld.with(1...3) { world in
            _ = try await world.make(1, [2, 3])
            let grown = try await world.database.visits("conversations.\(call)", growth: Self.growth)
            #expect(grown[7] < most, "\(grown)")
            // A new session plans anew, still without statistics.
            try await world.database.run(
                Self.growth.replacing("generate_series(10, 5000)", with: "generate_series(5001, 9999)"))
            let fresh = try await world.database.visits("conversations.\(call)")
            #expect(fresh.allSatisfy { $0 < 2 * most }, "\(fresh)")
        }
    }
}
