-- Reading names, conversations and messages.

-- Returns an instant in microseconds since 1970.
CREATE FUNCTION conversations.microseconds(p_instant timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT (extract(epoch FROM p_instant) * 1000000)::bigint
$$;

-- Returns the names that begin with p_prefix, in order.
CREATE FUNCTION conversations.list_users(p_prefix text, p_limit integer) RETURNS TABLE (name text)
LANGUAGE sql STABLE AS $$
    -- Names have only characters that sort before '~'.
    SELECT own.name FROM conversations.chat_user AS own
    WHERE own.name >= p_prefix COLLATE "C" AND own.name < (p_prefix || '~') COLLATE "C"
    ORDER BY own.name LIMIT p_limit
$$;

-- Returns a user's conversations, the latest first. Returns one row without a conversation if there is none. A
-- conversation of two that the user has left isn't included.
--
-- If p_before is given, the list begins after that conversation. p_used_at is its used_at (microseconds) on the
-- previous page, because a new message may have changed its place since. If p_used_at is NULL, the current value is
-- used. is_beyond is false if p_before isn't one of the user's conversations.
--
-- The subqueries have limits for the reason that names_in gives.
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

-- Returns the number of the last message (the offset) in each of a user's conversations, at most p_limit: first the
-- current conversations, the latest first, then those that the user has left. For a conversation that the user has left
-- it is the number at that time. Returns one row without a conversation if there is none.
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

-- Returns the number of a conversation's last message that was sent before p_at, at most p_last. Returns 0 if there is
-- none. Later messages have higher numbers and later times, so this is a binary search. It takes as many steps as
-- p_last has bits, even if old messages were deleted.
CREATE FUNCTION conversations.number_before(p_conversation uuid, p_last bigint, p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- Messages up to v_low were sent before p_at. Messages after v_high weren't.
    v_low bigint := 0;
    v_high bigint := p_last;
    v_middle bigint;
    v_sent timestamptz;
BEGIN
    WHILE v_low < v_high LOOP
        v_middle := v_low + (v_high - v_low + 1) / 2;
        v_sent := NULL;
        SELECT stored.sent_at INTO v_sent FROM conversations.message AS stored
        WHERE stored.conversation_id = p_conversation AND stored.number <= v_middle ORDER BY stored.number DESC LIMIT 1;
        IF v_sent IS NULL OR v_sent < p_at THEN
            v_low := v_middle;
        ELSE
            v_high := v_middle - 1;
        END IF;
    END LOOP;
    RETURN v_low;
END
$$;

-- Returns from where each of a user's conversations can be read again; with p_conversation only for that one. epoch and
-- last_number are the current position. first_number is the first message that is still stored. since_number is the
-- number before the first message sent at p_since (epoch seconds) or later. It is NULL if p_since is NULL, and for the
-- conversations p_named.
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

-- Returns a conversation's messages in order: the first p_limit after the number p_after; or, if p_before is given, the
-- last p_limit before that number. There are fewer messages if their JSON for sockets would exceed p_bytes, but at
-- least one. Returns one row without a message if there is none.
--
-- With p_device, the result has only what this device may see, and no row if it never was a participant. If p_device is
-- NULL, the result has all messages.
CREATE FUNCTION conversations.list_messages(
    p_device text, p_conversation uuid, p_after bigint, p_before bigint, p_limit integer, p_bytes integer
) RETURNS TABLE (
    kind text, last_number bigint, names text, epoch text, number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE sql STABLE AS $$
    SELECT
        seen.kind, seen.last_number, seen.names, seen.epoch, stored.number, stored.id, stored.author, stored.content,
        floor(extract(epoch FROM stored.sent_at))::bigint
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
            -- The length of the other parts of the JSON: the names of the fields, the longest possible numbers, and the
            -- comma.
            sum(
                228 + length(seen.names) + coalesce(length(near.author), 0)
                + coalesce(octet_length(to_json(near.content)::text), 2)
            ) OVER nearest AS bytes
        FROM (
            SELECT
                kept.number, kept.id, kept.sent_at, author.name AS author,
                -- An erased author has no name. The content isn't shown, even before it is deleted.
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
    ) AS stored ON stored.place = 1 OR stored.bytes <= p_bytes
    ORDER BY stored.number
$$;
