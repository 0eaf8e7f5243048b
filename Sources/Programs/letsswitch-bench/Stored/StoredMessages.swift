/// The SQL that fills a database with messages. Half of the messages are in one conversation, one per second. The
/// others are in conversations of a hundred messages.
enum StoredMessages {
    private static let perConversation = 100
    private static let tables =
        "conversations.message, conversations.participant, conversations.conversation, conversations.chat_user"

    /// - Parameter count: The number of messages, a multiple of 200.
    static func fill(_ count: Int) -> String {
        let others = count / 2 / perConversation
        return """
            BEGIN;
            TRUNCATE \(tables) RESTART IDENTITY CASCADE;
            INSERT INTO conversations.chat_user (name, device_id, named_at)
            SELECT 'stored' || n, 'chat-' || n, now() FROM generate_series(1, \(2 * (others + 1))) AS n;
            CREATE TEMPORARY TABLE talk ON COMMIT DROP AS
            SELECT
                n, lpad(to_hex(n), 32, '0')::uuid AS id,
                CASE WHEN n = 1 THEN \(count / 2) ELSE \(perConversation) END AS messages
            FROM generate_series(1, \(others + 1)) AS n;
            INSERT INTO conversations.conversation (id, kind, members, last_number, created_at, used_at, checked_at)
            SELECT id, 'person', ARRAY[2 * n - 1, 2 * n]::bigint[], messages, now() - interval '30 days', now(), now() FROM talk;
            INSERT INTO conversations.participant (conversation_id, user_id)
            SELECT id, 2 * n - place FROM talk CROSS JOIN generate_series(0, 1) AS place;
            INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
            SELECT
                id, number, gen_random_uuid(), 2 * n - number % 2, 'Message ' || number,
                now() - make_interval(secs => messages - number)
            FROM talk CROSS JOIN generate_series(1, messages) AS number;
            COMMIT
            """
    }

    private static let one = "'00000000-0000-0000-0000-000000000001'"

    /// Returns the calls that requests, sockets and timers make.
    ///
    /// - Parameter count: The number of stored messages.
    static func calls(_ count: Int) -> [StoredCall] {
        let people = count / perConversation
        @Sendable func device(_ run: Int) -> String { "chat-\(1 + run * 7919 % people)" }
        func page(_ what: String, after: Int, before: String = "NULL") -> StoredCall {
            StoredCall(name: "\(what) page of a conversation") { _ in
                "SELECT * FROM conversations.list_messages('chat-1', \(one), \(after), \(before), 100, 32768)"
            }
        }
        return [
            page("the first", after: 0), page("the middle", after: count / 4),
            page("the last", after: 0, before: "9223372036854775807"),
            StoredCall(name: "a person's conversations") { run in
                "SELECT * FROM conversations.list_conversations('\(device(run))', NULL, NULL, 101)"
            },
            StoredCall(name: "where a person's conversations stand") { run in
                "SELECT * FROM conversations.positions('\(device(run))', 2000)"
            },
            StoredCall(name: "a hundred names") { _ in "SELECT * FROM conversations.list_users('stored1', 100)" },
            StoredCall(name: "say something") { _ in
                """
                SELECT * FROM conversations.send_messages('chat-1', ARRAY[\(one)::uuid], ARRAY[gen_random_uuid()], 'Hello', NULL, 1000, \
                true, true, '')
                """
            },
            StoredCall(name: "say ten things at once") { _ in
                """
                SELECT * FROM conversations.send_together(
                    array_fill('chat-1'::text, ARRAY[10]), array_fill(\(one)::uuid, ARRAY[10]),
                    ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 10)), array_fill('Hello'::text, ARRAY[10]), 1000,
                    true, '')
                """
            },
            StoredCall(name: "read a conversation") { run in
                "SELECT * FROM conversations.set_participant('chat-1', \(one), 'read', \(run))"
            },
            StoredCall(name: "purge a hundred messages, or none", isAlike: false) { _ in
                "SELECT conversations.delete_old(31536000, 100)"
            },
        ]
    }
}
