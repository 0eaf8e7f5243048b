-- Notifications of messages to users who aren't connected, by the providers of reminders. There is at most one per
-- minute and conversation.

-- Connected users --------------------------------------------------------------------------------------------------

-- Whether a user is connected to a daemon that has sent a heartbeat within the last 30 seconds.
CREATE FUNCTION conversations.is_connected(p_user bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM conversations.connected_user AS own
        JOIN core.daemon ON daemon.id = own.daemon_id AND daemon.seen_at > core.clock() - interval '30 seconds'
        WHERE own.user_id = p_user
    )
$$;

-- Adds the users who have connected to a daemon, and removes those who have disconnected, all by their names. A
-- connection counts as use of the name. The use is recorded at most once a day, and locked rows are skipped.
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

-- Deletes the connected users of a daemon that starts or stops, and those of daemons that have no row. A daemon whose
-- row was deleted within the last hour is left out, because it may be alive and create its row again.
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

-- Writes a notification of a message for each participant who isn't connected, in the transaction of the message. No
-- notification is written if one that already waits will cover the message. If one is being sent now,
-- renew_message_notifications later writes the next one. Participants who have muted the conversation, and those with a
-- block between them and the author, aren't notified.
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
    -- Transactions that finish deliveries lock these rows in the same order.
    ORDER BY (
        SELECT waiting.id FROM core.delivery AS waiting
        WHERE waiting.conversation_id = p_conversation AND waiting.user_id = absent.id AND waiting.channel = way.channel
            AND coalesce(waiting.address_id, 0) = coalesce(way.address_id, 0)
    )
    ON CONFLICT (conversation_id, user_id, channel, coalesce(address_id, 0)) WHERE conversation_id IS NOT NULL
    DO UPDATE SET deadline = excluded.deadline;
    IF FOUND THEN
        -- The delivery workers then read when the next delivery is due.
        PERFORM pg_notify('letsswitch_deliveries', provider.name) FROM core.provider
        WHERE provider.disabled_at IS NULL;
    END IF;
END
$$;

-- Returns the content of a user's notification: the unread messages from number p_from to p_until. Messages of authors
-- with a block between them and the user are left out. `authors` has the names of the authors, separated by commas, in
-- the order of their first messages. `recent` has the last five messages as a JSON array of {author, content}.
-- `messages` is the number of unread messages, counted among the last 1,000 messages.
--
-- Returns no row if there is no such message, if the user has muted or left the conversation, or if the user is
-- connected now and receives the messages there.
CREATE FUNCTION conversations.unread_messages(p_user bigint, p_conversation uuid, p_from bigint, p_until bigint)
RETURNS TABLE (device_id text, names text, authors text, messages bigint, recent text)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        reader.device_id, array_to_string(conversations.names_in(p_conversation), ','), summary.authors, summary.messages, summary.recent
    FROM conversations.participant AS own
    JOIN conversations.chat_user AS reader ON reader.id = own.user_id AND reader.name IS NOT NULL
    CROSS JOIN LATERAL (
        WITH unread AS MATERIALIZED (
            -- The limit also covers messages that don't count for the notification. So at most 1,000 messages are read,
            -- and the notification's first message.
            SELECT number, content, author_id FROM conversations.message
            WHERE conversation_id = p_conversation AND number = p_from AND number > own.read_number
            UNION
            (
                SELECT number, content, author_id FROM conversations.message
                WHERE conversation_id = p_conversation AND number >= greatest(p_from, own.read_number + 1) AND number <= p_until
                ORDER BY number DESC LIMIT 1000
            )
        ), author AS MATERIALIZED (
            -- Each author is read once, because a conversation has few authors.
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

-- Returns the number of a conversation's last message.
CREATE FUNCTION conversations.last_number(p_conversation uuid) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT conversation.last_number FROM conversations.conversation WHERE conversation.id = p_conversation
$$;

-- Locks conversations whose notifications are being finished, in the order in which messages lock them. A message that
-- is being stored at the same time is either committed before, or finds these notifications deleted.
CREATE FUNCTION conversations.lock_notified(p_conversations uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM conversations.conversation
    WHERE conversation.id = ANY (p_conversations) ORDER BY conversation.id FOR KEY SHARE;
END
$$;

-- Writes new notifications after these were sent or dropped, if messages were stored since their content was read. The
-- next notification of a user is due a minute after the last one.
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
