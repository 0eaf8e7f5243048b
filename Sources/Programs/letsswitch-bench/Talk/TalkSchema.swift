/// The SQL that creates conversations of two people or of groups, each with its own people. Names are short, so that
/// the key of fifty people isn't too long.
enum TalkSchema {
    static func device(_ person: Int) -> String { "talk-\(person)" }

    /// Returns a conversation's id in the form that clients use.
    static func conversation(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// Creates `count` conversations of `size` people, numbered from `first`. The people of the first conversation have
    /// the numbers from `(first - 1) * size + 1` up.
    static func make(_ count: Int, of size: Int, from first: Int) -> [String] {
        let people = (first - 1) * size + 1...(first - 1 + count) * size
        return [
            """
            SELECT count(conversations.take_name('talk-' || n, to_hex(n), true))
            FROM generate_series(\(people.lowerBound), \(people.upperBound)) AS n
            """,
            """
            SELECT count(made.code) FROM generate_series(\(first), \(first + count - 1)) AS n
            CROSS JOIN LATERAL conversations.make_conversation(
                'talk-' || (n - 1) * \(size) + 1, lpad(to_hex(n), 32, '0')::uuid,
                ARRAY(SELECT to_hex((n - 1) * \(size) + place) FROM generate_series(2, \(size)) AS place), 1000, true
            ) AS made WHERE made.code = 'made'
            """,
        ]
    }

    /// Sends a message in a random conversation of the first `count` pairs.
    static func send(inPairs count: Int) -> String {
        """
        \\set pair random(1, \(count))
        SELECT * FROM conversations.send_messages('talk-' || 2 * :pair::bigint - 1, ARRAY[lpad(to_hex(:pair::bigint), 32, '0')::uuid], \
        ARRAY[gen_random_uuid()], 'Hello', NULL, 1000, true, true, 'pgbench');

        """
    }
}
