-- Deleting old messages, and names and blocks that nobody uses any more.

-- Whether a device participates in conversations: it was connected since then, or is, or a message of its is kept.
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

-- Deletes blocks and names that weren't used for p_retention seconds, p_limit of each at a time. A block counts as used while
-- its owner has anything in the schedule or takes part in conversations. Returns how many it looked at; more may be left
-- until that is 0.
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
    -- Last, because a blocked user keeps the name while the block exists.
    RETURN cardinality(v_blocks) + conversations.delete_unused_names(v_before, p_limit);
END
$$;

-- Deletes names that weren't used since p_before, p_limit at a time; they can then be taken again. A name is kept if
-- its user is in the schedule or in a conversation, is connected, has written a message or added a reaction that is kept,
-- or was blocked by that name, because the block would then seem to concern the name's next user. Returns how many it
-- looked at; more may be left until that is 0.
CREATE FUNCTION conversations.delete_unused_names(p_before timestamptz, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    -- Locked first: a transaction that creates a conversation with one of these users, sends a message or blocks is
    -- before or after this one.
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

-- Deletes messages older than p_retention seconds with their reactions, conversations without messages since then, and
-- groups that all participants have left, with their messages; p_limit of each at a time. Returns how many; more may be
-- left until that is 0.
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
        SELECT said.conversation_id, said.number FROM conversations.message AS said
        WHERE said.sent_at < v_before ORDER BY said.sent_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) AS past;
    v_taken := conversations.delete_messages(v_conversations, v_numbers, p_limit);
    v_checked := ARRAY(
        SELECT past.id FROM conversations.conversation AS past
        WHERE past.checked_at < v_before ORDER BY past.checked_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    -- The messages of groups that all participants have left. Each group is deleted once it is empty.
    v_left := ARRAY(
        SELECT past.id FROM conversations.conversation AS past WHERE past.id = ANY (v_checked) AND past.checked_at = '-infinity'
    );
    SELECT array_agg(own.conversation_id), array_agg(own.number) INTO v_conversations, v_numbers
    FROM (
        SELECT held.conversation_id, held.number FROM unnest(v_left) AS past (id)
        CROSS JOIN LATERAL (
            SELECT said.conversation_id, said.number FROM conversations.message AS said
            WHERE said.conversation_id = past.id FOR UPDATE SKIP LOCKED
        ) AS held
        LIMIT p_limit
    ) AS own;
    v_emptied := conversations.delete_messages(v_conversations, v_numbers, p_limit);
    -- A conversation in use is looked at again when its last message is old enough.
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

-- Deletes messages that nobody will send, because there was no daemon with a broker for so long. Returns how many, at
-- most p_limit.
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

-- Deletes messages, whose rows the transaction has locked, with their reactions: p_limit reactions, and the messages
-- that have none left. Reactions that an erasure is deleting are skipped, so this never waits. Returns how many rows it
-- deleted.
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
            SELECT said.ctid AS place FROM conversations.message AS said
            WHERE said.conversation_id = past.conversation_id AND said.number = past.number LIMIT 1
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
