-- Notifications of messages to absent users: at most one per minute and conversation, by the providers of reminders.

-- Listening --------------------------------------------------------------------------------------------------------

-- Whether a user is connected to a daemon that is alive.
CREATE FUNCTION conversations.is_connected(p_user bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM conversations.connected_user AS own
        JOIN core.daemon ON daemon.id = own.daemon_id AND daemon.seen_at > core.clock() - interval '30 seconds'
        WHERE own.user_id = p_user
    )
$$;

-- Adds the users who have connected to this daemon, and removes those who have disconnected, all by their names. A connection counts as use
-- of the name, which is written at most once a day and without waiting for locks.
CREATE FUNCTION conversations.set_connected_users(p_daemon uuid, p_connected text[], p_disconnected text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM conversations.connected_user AS own USING conversations.chat_user AS known
    WHERE known.name = ANY (p_disconnected COLLATE "C") AND own.user_id = known.id AND own.daemon_id = p_daemon;
    INSERT INTO conversations.connected_user (user_id, daemon_id)
    SELECT known.id, p_daemon FROM conversations.chat_user AS known WHERE known.name = ANY (p_connected COLLATE "C")
    ON CONFLICT DO NOTHING;
    UPDATE conversations.chat_user SET used_at = core.clock() WHERE chat_user.id = ANY (ARRAY(
        SELECT known.id FROM conversations.chat_user AS known
        WHERE known.name = ANY (p_connected COLLATE "C") AND known.used_at < core.clock() - interval '1 day'
        FOR NO KEY UPDATE SKIP LOCKED
    ));
END
$$;

-- At a daemon's start or end: deletes its connected users, and those of daemons without a row. A daemon whose row was
-- deleted within the last hour may be alive, and writes its row again.
CREATE FUNCTION conversations.remove_connected_users(p_daemon uuid) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM conversations.connected_user AS own
    WHERE own.daemon_id = p_daemon OR NOT EXISTS (SELECT FROM core.daemon WHERE daemon.id = own.daemon_id)
        AND NOT EXISTS (
            SELECT FROM core.reporter
            WHERE reporter.id = own.daemon_id AND reporter.lost_at > core.clock() - interval '1 hour'
        )
$$;

-- Notifications ----------------------------------------------------------------------------------------------------

-- Writes a notification for each participant who should be notified and isn't connected, in the message's transaction,
-- unless a waiting one will cover the message. One that is being sent now is renewed for it
-- (renew_message_notifications). Participants who have muted the conversation, and those with a block between them and
-- the author, get none.
CREATE FUNCTION conversations.notify_absent(p_conversation uuid, p_number bigint, p_author bigint, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_providers text[] := core.addressed_providers();
    v_has_subscribers boolean := core.has_subscribers();
BEGIN
    IF v_providers = '{}' AND NOT v_has_subscribers THEN
        RETURN;
    END IF;
    WITH absent AS (
        UPDATE conversations.participant AS own
        SET notified_at = greatest(p_now, own.notified_at + interval '1 minute')
        FROM conversations.chat_user AS reader, conversations.chat_user AS author
        WHERE own.conversation_id = p_conversation AND own.user_id <> p_author AND own.left_number IS NULL AND NOT own.is_muted
            AND (own.notified_at IS NULL OR own.notified_at <= p_now)
            AND reader.id = own.user_id AND reader.name IS NOT NULL AND author.id = p_author
            AND NOT core.is_blocked(author.device_id, reader.device_id) AND NOT conversations.is_connected(reader.id)
            AND (v_has_subscribers OR EXISTS (
                SELECT FROM core.address
                WHERE address.device_id = reader.device_id AND address.channel = ANY (v_providers)
            ))
        RETURNING reader.id, reader.device_id, own.notified_at
    )
    INSERT INTO core.delivery (
        channel, urgent, message_id, address_id, conversation_id, user_id, from_number, created_at, next_try_at, deadline)
    SELECT
        way.channel, false, gen_random_uuid(), way.address_id, p_conversation, absent.id, p_number, p_now, absent.notified_at,
        absent.notified_at + interval '1 day'
    FROM absent
    CROSS JOIN LATERAL (
        SELECT address.channel, address.id AS address_id FROM core.address
        WHERE address.device_id = absent.device_id AND address.channel = ANY (v_providers)
        UNION ALL
        SELECT provider.name, NULL FROM core.provider
        WHERE provider.subscribes AND provider.disabled_at IS NULL
    ) AS way
    -- Transactions that finish deliveries lock them in this order, too.
    ORDER BY (
        SELECT waiting.id FROM core.delivery AS waiting
        WHERE waiting.conversation_id = p_conversation AND waiting.user_id = absent.id AND waiting.channel = way.channel
            AND coalesce(waiting.address_id, 0) = coalesce(way.address_id, 0)
    )
    ON CONFLICT (conversation_id, user_id, channel, coalesce(address_id, 0)) WHERE conversation_id IS NOT NULL
    DO UPDATE SET deadline = excluded.deadline;
    IF FOUND THEN
        -- The workers look when the next one is due.
        PERFORM pg_notify('letsswitch_deliveries', provider.name) FROM core.provider
        WHERE provider.disabled_at IS NULL;
    END IF;
END
$$;

-- The content of a user's notification: the unread messages from p_from to p_until by authors whom the user hasn't
-- blocked. `authors` are separated by commas, in the order of their first messages; `recent` has the last five as a
-- JSON array of {author, content}; the last 1,000 messages are counted. No row if there is nothing, or if the user has
-- connected since and receives them there.
CREATE FUNCTION conversations.unread_messages(p_user bigint, p_conversation uuid, p_from bigint, p_until bigint)
RETURNS TABLE (device_id text, names text, authors text, messages bigint, recent text)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        reader.device_id, array_to_string(conversations.names_in(p_conversation), ','), summary.authors, summary.messages, summary.recent
    FROM conversations.participant AS own
    JOIN conversations.chat_user AS reader ON reader.id = own.user_id AND reader.name IS NOT NULL
    CROSS JOIN LATERAL (
        WITH unread AS MATERIALIZED (
            -- Messages that don't count are included in the limit: however many there are, no more are read, besides
            -- the notification's own.
            SELECT number, content, author_id FROM conversations.message
            WHERE conversation_id = p_conversation AND number = p_from AND number > own.read_number
            UNION
            (
                SELECT number, content, author_id FROM conversations.message
                WHERE conversation_id = p_conversation AND number >= greatest(p_from, own.read_number + 1) AND number <= p_until
                ORDER BY number DESC LIMIT 1000
            )
        ), author AS MATERIALIZED (
            -- Each once: a conversation has few of them.
            SELECT known.id, known.name FROM conversations.chat_user AS known
            WHERE known.id IN (SELECT author_id FROM unread) AND known.id <> p_user AND known.name IS NOT NULL
                AND NOT core.is_blocked(known.device_id, reader.device_id)
        ), named AS (
            SELECT unread.number, unread.content, author.name
            FROM unread JOIN author ON author.id = unread.author_id WHERE unread.content IS NOT NULL
        )
        SELECT
            (SELECT count(*) FROM named) AS messages,
            (
                SELECT string_agg(writer.name, ',' ORDER BY writer.number)
                FROM (SELECT named.name, min(named.number) AS number FROM named GROUP BY named.name) AS writer
            ) AS authors,
            (
                SELECT json_agg(json_build_object('author', last.name, 'content', left(last.content, 500)) ORDER BY last.number)
                FROM (SELECT * FROM named ORDER BY named.number DESC LIMIT 5) AS last
            )::text AS recent
    ) AS summary
    WHERE own.conversation_id = p_conversation AND own.user_id = p_user AND own.left_number IS NULL AND NOT own.is_muted
        AND summary.messages > 0 AND NOT conversations.is_connected(p_user)
$$;

-- The number of a conversation's last message.
CREATE FUNCTION conversations.last_number(p_conversation uuid) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT conversation.last_number FROM conversations.conversation WHERE conversation.id = p_conversation
$$;

-- Locks conversations whose notifications are being finished, in the order in which messages lock them. A message being
-- stored now is either before this, or sees the notifications deleted.
CREATE FUNCTION conversations.lock_notified(p_conversations uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM conversations.conversation
    WHERE conversation.id = ANY (p_conversations) ORDER BY conversation.id FOR KEY SHARE;
END
$$;

-- These notifications were sent or dropped. For messages stored since they were read, new ones are written, a minute
-- after them.
CREATE FUNCTION conversations.renew_message_notifications(p_finished core.delivery[]) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO core.delivery (
        channel, urgent, message_id, address_id, conversation_id, user_id, from_number, created_at, next_try_at, deadline)
    SELECT
        finished.channel, false, gen_random_uuid(), finished.address_id, finished.conversation_id, finished.user_id, finished.until_number + 1,
        core.clock(), next.at, next.at + interval '1 day'
    FROM unnest(p_finished) AS finished
    JOIN conversations.conversation ON conversation.id = finished.conversation_id AND conversation.last_number > finished.until_number
    JOIN conversations.participant AS own ON own.conversation_id = finished.conversation_id AND own.user_id = finished.user_id
    CROSS JOIN LATERAL (SELECT greatest(core.clock(), own.notified_at) AS at) AS next
    WHERE own.left_number IS NULL AND NOT own.is_muted AND own.read_number < conversation.last_number
$$;
