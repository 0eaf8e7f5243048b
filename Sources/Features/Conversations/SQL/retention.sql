-- The deletion of old messages, and of names and blocks that are no longer used.

-- Whether a device takes part in conversations: it has used its name since p_since, is connected now, or has a stored
-- message.
CREATE FUNCTION conversations.is_in_conversations(p_device text, p_since timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM conversations.chat_user AS own
        WHERE own.device_id = p_device AND own.name IS NOT NULL AND (
            own.used_at >= p_since
            OR EXISTS (SELECT FROM conversations.connected_user WHERE connected_user.user_id = own.id)
            OR EXISTS (SELECT FROM conversations.message WHERE message.author_id = own.id)
        )
    )
$$;

-- Deletes blocks and names that weren't used for p_retention seconds, at most p_limit of each. A block is kept while
-- its owner has anything in the schedule or takes part in conversations. Returns the number of rows that it checked. If
-- it isn't 0, more may be left.
CREATE FUNCTION conversations.delete_unused(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    v_blocks uuid[] := ARRAY(
        SELECT block.id FROM core.block
        WHERE block.used_at < v_before ORDER BY block.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
BEGIN
    UPDATE core.block SET used_at = v_now
    WHERE block.id = ANY (v_blocks)
        AND (schedule.is_in_schedule(block.device_id) OR conversations.is_in_conversations(block.device_id, v_before));
    DELETE FROM core.block WHERE block.id = ANY (v_blocks) AND block.used_at < v_before;
    -- Names come last, because a blocked user's name is kept while the block exists.
    RETURN cardinality(v_blocks) + conversations.delete_unused_names(v_before, p_limit);
END
$$;

-- Deletes names that weren't used since p_before, at most p_limit. They can then be taken again. A name is kept if its
-- user is in the schedule or in a conversation, is connected, or has a stored message or reaction. A name is also kept
-- if a block has it, because the block would seem to be about the next user of this name. Returns the number of names
-- that it checked. If it isn't 0, more may be left.
CREATE FUNCTION conversations.delete_unused_names(p_before timestamptz, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    -- The users are locked first, so transactions that create a conversation with one of them, store a message or block
    -- one wait or come first.
    v_users bigint[] := ARRAY(
        SELECT own.id FROM conversations.chat_user AS own
        WHERE own.checked_at < p_before AND own.name IS NOT NULL ORDER BY own.checked_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
BEGIN
    UPDATE conversations.chat_user AS own SET checked_at = core.clock()
    WHERE own.id = ANY (v_users) AND (
        own.used_at >= p_before
        OR conversations.takes_part(own.id)
        OR EXISTS (SELECT FROM conversations.message WHERE message.author_id = own.id)
        OR EXISTS (SELECT FROM conversations.reaction WHERE reaction.user_id = own.id)
        OR EXISTS (SELECT FROM conversations.connected_user WHERE connected_user.user_id = own.id)
        OR EXISTS (SELECT FROM core.block WHERE block.blocked_id = own.device_id AND block.name IS NOT NULL)
        OR schedule.is_in_schedule(own.device_id)
    );
    DELETE FROM conversations.chat_user AS own WHERE own.id = ANY (v_users) AND own.checked_at < p_before;
    RETURN cardinality(v_users);
END
$$;

-- Deletes at most p_limit of each: messages older than p_retention seconds, with their reactions; conversations in
-- which no message was sent since then; groups that all participants have left, with their messages. Returns the number
-- of rows that it deleted or checked. If it isn't 0, more may be left.
CREATE FUNCTION conversations.delete_old(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_before timestamptz := core.clock() - make_interval(secs => p_retention);
    v_checked uuid[];
    v_left uuid[];
    v_conversations uuid[];
    v_numbers bigint[];
    v_users bigint[];
    v_taken bigint;
    v_emptied bigint;
BEGIN
    SELECT array_agg(past.conversation_id), array_agg(past.number) INTO v_conversations, v_numbers
    FROM (
        SELECT stored.conversation_id, stored.number FROM conversations.message AS stored
        WHERE stored.sent_at < v_before ORDER BY stored.sent_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) AS past;
    v_taken := conversations.delete_messages(v_conversations, v_numbers, p_limit);
    v_checked := ARRAY(
        SELECT past.id FROM conversations.conversation AS past
        WHERE past.checked_at < v_before ORDER BY past.checked_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    -- The messages of groups that all participants have left. A group is deleted when it has no messages any more.
    v_left := ARRAY(
        SELECT past.id FROM conversations.conversation AS past WHERE past.id = ANY (v_checked) AND past.checked_at = '-infinity'
    );
    SELECT array_agg(own.conversation_id), array_agg(own.number) INTO v_conversations, v_numbers
    FROM (
        SELECT held.conversation_id, held.number FROM unnest(v_left) AS past (id)
        CROSS JOIN LATERAL (
            SELECT stored.conversation_id, stored.number FROM conversations.message AS stored
            WHERE stored.conversation_id = past.id FOR UPDATE SKIP LOCKED
        ) AS held
        LIMIT p_limit
    ) AS own;
    v_emptied := conversations.delete_messages(v_conversations, v_numbers, p_limit);
    -- A conversation in use is checked again when its last message is old enough.
    UPDATE conversations.conversation SET checked_at = conversation.used_at
    WHERE conversation.id = ANY (v_checked) AND conversation.id <> ALL (v_left) AND conversation.used_at >= v_before;
    v_conversations := ARRAY(
        SELECT past.id FROM conversations.conversation AS past
        WHERE past.id = ANY (v_checked) AND (past.used_at < v_before OR past.id = ANY (v_left))
            AND NOT EXISTS (SELECT FROM conversations.message WHERE message.conversation_id = past.id)
    );
    WITH gone AS (
        DELETE FROM conversations.participant WHERE participant.conversation_id = ANY (v_conversations) RETURNING user_id
    )
    SELECT array_agg(DISTINCT gone.user_id) INTO v_users FROM gone;
    PERFORM conversations.delete_users(v_users);
    DELETE FROM conversations.conversation WHERE conversation.id = ANY (v_conversations);
    RETURN v_taken + v_emptied + conversations.delete_unsent(p_limit) + cardinality(ARRAY(
        SELECT seen.id FROM unnest(v_checked) AS seen (id)
        WHERE NOT EXISTS (
            SELECT FROM conversations.conversation AS past WHERE past.id = seen.id AND past.checked_at < v_before
        )
    ));
END
$$;

-- Deletes messages from the bridge's outbox, at most p_limit, if no daemon with a broker has run for seven days: no
-- daemon would send them. Returns the number of deleted messages.
CREATE FUNCTION conversations.delete_unsent(p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_taken bigint;
BEGIN
    DELETE FROM conversations.bridge_message WHERE NOT conversations.has_bridge() AND bridge_message.id = ANY (ARRAY(
        SELECT waiting.id FROM conversations.bridge_message AS waiting ORDER BY waiting.id LIMIT p_limit
    ));
    GET DIAGNOSTICS v_taken = ROW_COUNT;
    RETURN v_taken;
END
$$;

-- Deletes these messages with their reactions: at most p_limit reactions, and those messages that have no reactions
-- left. The caller has locked the messages. Reactions that an erasure is deleting are skipped, so this function never
-- waits for a lock. Returns the number of deleted rows.
CREATE FUNCTION conversations.delete_messages(p_conversations uuid[], p_numbers bigint[], p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_reactions bigint;
    v_messages bigint;
BEGIN
    DELETE FROM conversations.reaction WHERE reaction.ctid = ANY (ARRAY(
        SELECT held.place FROM unnest(p_conversations, p_numbers) AS past (conversation_id, number)
        CROSS JOIN LATERAL (
            SELECT own.ctid AS place FROM conversations.reaction AS own
            WHERE own.conversation_id = past.conversation_id AND own.number = past.number
            FOR UPDATE SKIP LOCKED
        ) AS held
        LIMIT p_limit
    ));
    GET DIAGNOSTICS v_reactions = ROW_COUNT;
    DELETE FROM conversations.message WHERE message.ctid = ANY (ARRAY(
        SELECT held.place FROM unnest(p_conversations, p_numbers) AS past (conversation_id, number)
        CROSS JOIN LATERAL (
            SELECT stored.ctid AS place FROM conversations.message AS stored
            WHERE stored.conversation_id = past.conversation_id AND stored.number = past.number LIMIT 1
        ) AS held
        WHERE NOT EXISTS (
            SELECT FROM conversations.reaction AS own
            WHERE own.conversation_id = past.conversation_id AND own.number = past.number
        )
    ));
    GET DIAGNOSTICS v_messages = ROW_COUNT;
    RETURN v_reactions + v_messages;
END
$$;
