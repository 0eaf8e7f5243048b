-- Reading names, conversations and messages.

CREATE FUNCTION conversations.microseconds(p_instant timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT (extract(epoch FROM p_instant) * 1000000)::bigint
$$;

-- The names that begin so, in order.
CREATE FUNCTION conversations.list_users(p_prefix text, p_limit integer) RETURNS TABLE (name text)
LANGUAGE sql STABLE AS $$
    -- Names have nothing behind '~'.
    SELECT own.name FROM conversations.chat_user AS own
    WHERE own.name >= p_prefix COLLATE "C" AND own.name < (p_prefix || '~') COLLATE "C"
    ORDER BY own.name LIMIT p_limit
$$;

-- A user's conversations, the latest first; one row without a conversation if there is none. A pair that the user has
-- left isn't shown. With p_before, the list begins after that conversation as it was at p_used_at, which is a page's
-- used_at. If p_used_at is NULL, its current state is used, and is_beyond says whether it is one of the user's. The
-- subqueries have limits for the reason that names_in gives.
CREATE FUNCTION conversations.list_conversations(
    p_device text, p_before uuid, p_used_at bigint, p_limit integer
) RETURNS TABLE (
    name text, is_beyond boolean, used_at bigint, conversation_id uuid, kind text, names text, last_number bigint,
    read_number bigint, is_muted boolean, number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE sql STABLE AS $$
    SELECT me.name, p_before IS NULL OR place.used_at IS NOT NULL, conversations.microseconds(own.used_at), shown.*
    FROM conversations.user_of(p_device) AS me
    LEFT JOIN LATERAL (
        SELECT coalesce(p_used_at, (
            SELECT conversations.microseconds(last.used_at) FROM conversations.conversation AS last
            WHERE last.id = p_before AND EXISTS (
                SELECT FROM conversations.participant
                WHERE participant.conversation_id = p_before AND participant.user_id = me.id
            )
        )) AS used_at
    ) AS place ON true
    LEFT JOIN LATERAL (
        SELECT listed.id, listed.used_at
        FROM conversations.conversations_of(me.id) AS own
        CROSS JOIN LATERAL (
            SELECT known.id, known.kind, known.used_at FROM conversations.conversation AS known
            WHERE known.id = own.conversation_id LIMIT 1
        ) AS listed
        WHERE (own.left_number IS NULL OR listed.kind = 'group') AND (
            p_before IS NULL OR (conversations.microseconds(listed.used_at), listed.id) < (place.used_at, p_before)
        )
        ORDER BY listed.used_at DESC, listed.id DESC LIMIT p_limit
    ) AS own ON true
    LEFT JOIN LATERAL conversations.conversation_for(me.id, own.id) AS shown ON true
    ORDER BY own.used_at DESC, own.id DESC
$$;

-- The offsets of a user's conversations, the latest first, then those that the user has left, with their offsets at
-- that time; p_limit in all. One row without a conversation if there is none.
CREATE FUNCTION conversations.positions(p_device text, p_limit integer) RETURNS TABLE (
    name text, user_id bigint, conversation_id uuid, last_number bigint, has_left boolean
)
LANGUAGE sql STABLE AS $$
    SELECT me.name, me.id, own.id, own.last_number, own.has_left
    FROM conversations.user_of(p_device) AS me
    LEFT JOIN LATERAL (
        SELECT
            listed.id, coalesce(own.left_number, listed.last_number) AS last_number,
            own.left_number IS NOT NULL AS has_left, listed.used_at
        FROM conversations.conversations_of(me.id) AS own
        CROSS JOIN LATERAL (
            SELECT known.id, known.last_number, known.used_at FROM conversations.conversation AS known
            WHERE known.id = own.conversation_id LIMIT 1
        ) AS listed
        ORDER BY has_left, used_at DESC LIMIT p_limit
    ) AS own ON true
    ORDER BY own.has_left, own.used_at DESC
$$;

-- The number of a conversation's last message before an instant, up to p_last; 0 if there was none. Instants grow with
-- numbers, so this is a binary search, with as many steps as p_last has bits, whatever was purged in between.
CREATE FUNCTION conversations.number_before(p_conversation uuid, p_last bigint, p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- Messages up to v_low were sent before the instant, those from v_high on weren't.
    v_low bigint := 0;
    v_high bigint := p_last;
    v_middle bigint;
    v_sent timestamptz;
BEGIN
    WHILE v_low < v_high LOOP
        v_middle := v_low + (v_high - v_low + 1) / 2;
        v_sent := NULL;
        SELECT said.sent_at INTO v_sent FROM conversations.message AS said
        WHERE said.conversation_id = p_conversation AND said.number <= v_middle ORDER BY said.number DESC LIMIT 1;
        IF v_sent IS NULL OR v_sent < p_at THEN
            v_low := v_middle;
        ELSE
            v_high := v_middle - 1;
        END IF;
    END LOOP;
    RETURN v_low;
END
$$;

-- From where a user's conversations can be read again, in the form of positions; with p_conversation, only that one.
-- `first_number` is the first message that is kept. Messages since p_since, an instant in epoch seconds, have numbers
-- after `since_number`, which is NULL without p_since and for p_named.
CREATE FUNCTION conversations.histories(
    p_device text, p_conversation uuid, p_since double precision, p_named uuid[], p_limit integer
) RETURNS TABLE (conversation_id uuid, epoch text, last_number bigint, first_number bigint, since_number bigint)
LANGUAGE sql STABLE AS $$
    SELECT
        own.conversation_id, conversation.epoch, own.last_number,
        coalesce((
            SELECT kept.number FROM conversations.message AS kept
            WHERE kept.conversation_id = own.conversation_id ORDER BY kept.number LIMIT 1
        ), conversation.last_number + 1),
        CASE
            WHEN p_since IS NULL OR own.conversation_id = ANY (p_named) THEN NULL
            WHEN conversation.used_at < since.at THEN own.last_number
            ELSE conversations.number_before(own.conversation_id, own.last_number, since.at)
        END
    FROM conversations.positions(p_device, p_limit) AS own
    CROSS JOIN LATERAL (
        SELECT * FROM conversations.conversation AS known WHERE known.id = own.conversation_id LIMIT 1
    ) AS conversation
    CROSS JOIN LATERAL (SELECT to_timestamp(p_since) AS at) AS since
    WHERE p_conversation IS NULL OR own.conversation_id = p_conversation
$$;

-- A conversation's messages in order: the first p_limit after p_after, or, with p_before, the last ones before it.
-- There are fewer if they would exceed p_bytes of JSON in the form for sockets, but at least one. One row without a
-- message if there is none. With p_device, only what it may see, and no row if it never was a participant. Without,
-- everything.
CREATE FUNCTION conversations.list_messages(
    p_device text, p_conversation uuid, p_after bigint, p_before bigint, p_limit integer, p_bytes integer
) RETURNS TABLE (
    kind text, last_number bigint, names text, epoch text, number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE sql STABLE AS $$
    SELECT
        seen.kind, seen.last_number, seen.names, seen.epoch, said.number, said.id, said.author, said.content,
        floor(extract(epoch FROM said.sent_at))::bigint
    FROM (
        SELECT
            stands.kind, stands.last_number, stands.epoch, array_to_string(conversations.names_in(p_conversation), '.') AS names
        FROM (
            SELECT conversation.kind, conversation.last_number, conversation.epoch FROM conversations.conversation
            WHERE p_device IS NULL AND conversation.id = p_conversation
            UNION ALL
            SELECT conversation.kind, coalesce(own.left_number, conversation.last_number), conversation.epoch
            FROM conversations.user_of(p_device) AS me
            JOIN conversations.participant AS own ON own.user_id = me.id AND own.conversation_id = p_conversation
            JOIN conversations.conversation ON conversation.id = own.conversation_id
        ) AS stands
    ) AS seen
    LEFT JOIN LATERAL (
        SELECT
            near.*, row_number() OVER nearest AS place,
            -- The rest of the JSON, with numbers at their longest, and the comma.
            sum(
                228 + length(seen.names) + coalesce(length(near.author), 0)
                + coalesce(octet_length(to_json(near.content)::text), 2)
            ) OVER nearest AS bytes
        FROM (
            SELECT
                kept.number, kept.id, kept.sent_at, author.name AS author,
                -- An erased author has no name, and the messages are deleted in steps.
                CASE WHEN author.name IS NOT NULL THEN kept.content END AS content
            FROM (
                (
                    SELECT * FROM conversations.message AS next
                    WHERE p_before IS NULL AND next.conversation_id = p_conversation
                        AND next.number > p_after AND next.number <= seen.last_number
                    ORDER BY next.number LIMIT p_limit
                )
                UNION ALL
                (
                    SELECT * FROM conversations.message AS previous
                    WHERE p_before IS NOT NULL AND previous.conversation_id = p_conversation
                        AND previous.number < p_before AND previous.number <= seen.last_number
                    ORDER BY previous.number DESC LIMIT p_limit
                )
            ) AS kept
            LEFT JOIN conversations.chat_user AS author ON author.id = kept.author_id
        ) AS near
        WINDOW nearest AS (ORDER BY CASE WHEN p_before IS NULL THEN near.number ELSE -near.number END)
    ) AS said ON said.place = 1 OR said.bytes <= p_bytes
    ORDER BY said.number
$$;
