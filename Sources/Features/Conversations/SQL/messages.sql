-- Messages: storing them and notifying the daemons.

-- Locks these message ids in a fixed order. Transactions that store several messages wait here for other transactions
-- with one of the same ids. It is called after all conversations are locked.
CREATE FUNCTION conversations.lock_messages(p_ids uuid[]) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(19545, held.key)
    FROM (SELECT DISTINCT hashtext(wanted.id::text) AS key FROM unnest(p_ids) AS wanted (id) ORDER BY key OFFSET 0) AS held
$$;

-- Returns the users who have left a conversation of two and weren't erased. Its next message brings them back.
CREATE FUNCTION conversations.returning_users(p_conversation uuid) RETURNS bigint[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(gone.user_id), '{}')
    FROM conversations.participant AS gone
    JOIN conversations.chat_user AS own ON own.id = gone.user_id AND own.name IS NOT NULL
    WHERE gone.conversation_id = p_conversation AND gone.left_number IS NOT NULL
$$;

-- Locks the users of these devices who may write in one of these conversations for the first time, or for the first
-- time after they left it. The conversation then counts against their quotas. Returns these users. It is called before
-- any conversation is locked.
CREATE FUNCTION conversations.lock_first_authors(p_devices text[], p_conversations uuid[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(
        SELECT own.id FROM conversations.chat_user AS own
        WHERE own.device_id = ANY (p_devices) AND own.name IS NOT NULL AND EXISTS (
            SELECT FROM conversations.participant AS invited
            WHERE invited.conversation_id = ANY (p_conversations) AND invited.user_id = own.id
                AND (invited.invited_by IS NOT NULL OR invited.left_number IS NOT NULL)
        )
        ORDER BY own.id FOR NO KEY UPDATE
    );
END
$$;

-- Stores a message in each of these conversations, or in none. The arrays p_conversations and p_ids have the
-- conversation and the id of each message. If p_names is given, the message goes to the conversation of exactly these
-- users. If this conversation doesn't exist, it is created with the first id in p_conversations.
--
-- A repeated message has the same answer as before, whatever has changed since. If another transaction is storing one
-- of the ids at the same time, the statement fails with unique_violation, and a second call finds the message. A user's
-- first message in a conversation makes the conversation count against that user's quota. With p_goes_out the message
-- is also sent to the broker; it is false for messages from the broker.
--
-- Result codes: sent, repeated, name_required, no_such_user, no_such_conversation, id_taken, blocked, messages_full,
-- and the refusals of open_conversation.
CREATE FUNCTION conversations.send_messages(
    p_device text, p_conversations uuid[], p_ids uuid[], p_content text, p_names text[], p_most integer,
    p_has_space boolean, p_has_space_for_conversation boolean, p_origin text, p_goes_out boolean DEFAULT true
) RETURNS TABLE (
    code text, conversation_id uuid, kind text, number bigint, id uuid, author text, content text, sent_at bigint, names text,
    makes_conversation boolean, epoch text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user conversations.chat_user;
    v_members bigint[];
    v_conversations uuid[] := p_conversations;
    v_conversation conversations.conversation;
    v_held conversations.conversation[] := '{}';
    v_own conversations.participant;
    -- The conversations that begin to count against the author's quota, and whether the author's row is locked for
    -- this.
    v_answered uuid[] := '{}';
    v_is_answering boolean;
    v_returning bigint[];
    v_known uuid[];
    v_makes boolean := false;
    v_now timestamptz;
    v_number bigint;
    v_names text;
    v_goes_out boolean := p_goes_out AND conversations.has_bridge();
BEGIN
    -- An erasure waits for this lock, so it also finds the message stored here. After the erasure no message is stored.
    SELECT * INTO v_user FROM conversations.chat_user AS own
    WHERE own.device_id = p_device AND own.name IS NOT NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        code := 'name_required';
        RETURN NEXT;
        RETURN;
    END IF;
    v_members := conversations.members_named(v_user.id, p_names);
    v_known := ARRAY(
        -- One lookup per id, whatever the planner's statistics say: the author may have written a million messages.
        SELECT said.id FROM unnest(p_ids) AS wanted (id)
        CROSS JOIN LATERAL (SELECT * FROM conversations.message WHERE message.id = wanted.id LIMIT 1) AS said
        JOIN conversations.conversation ON conversation.id = said.conversation_id
        WHERE said.author_id = v_user.id AND said.content = p_content AND CASE
            WHEN p_names IS NULL THEN said.conversation_id = p_conversations[array_position(p_ids, said.id)]
            -- If a name doesn't exist any more, that user may have been erased since the message was stored.
            ELSE v_members IS NULL OR conversation.members = v_members
        END
    );
    IF cardinality(v_known) < cardinality(p_ids) THEN
        -- All refusals that need no lock come before anything is written.
        IF EXISTS (SELECT FROM conversations.message AS said WHERE said.id = ANY (p_ids) AND said.id <> ALL (v_known)) THEN
            code := 'id_taken';
        ELSIF NOT p_has_space THEN
            code := 'messages_full';
        ELSIF p_names IS NOT NULL AND v_members IS NULL THEN
            code := 'no_such_user';
        ELSIF p_names IS NOT NULL THEN
            SELECT opened.code, ARRAY[opened.conversation_id] INTO code, v_conversations
            FROM conversations.open_conversation(
                p_conversations[1], v_user.id, v_members, true, p_most, p_has_space_for_conversation) AS opened;
            v_makes := code = 'made';
            IF code IN ('made', 'there') THEN
                code := NULL;
            END IF;
        END IF;
        IF code IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;

        v_is_answering := v_user.id = ANY (conversations.lock_first_authors(ARRAY[p_device], v_conversations));
        FOR v_conversation IN
            SELECT * FROM conversations.conversation AS wanted
            WHERE wanted.id = ANY (v_conversations) ORDER BY wanted.id FOR UPDATE
        LOOP
            SELECT * INTO v_own FROM conversations.participant AS own
            WHERE own.conversation_id = v_conversation.id AND own.user_id = v_user.id;
            CONTINUE WHEN NOT FOUND OR v_own.left_number IS NOT NULL AND v_conversation.kind <> 'person';
            v_held := array_append(v_held, v_conversation);
            IF v_conversation.kind = 'person' AND conversations.is_blocked_among(v_conversation.members) THEN
                code := 'blocked';
            ELSIF v_own.invited_by IS NOT NULL OR v_own.left_number IS NOT NULL THEN
                IF NOT v_is_answering THEN
                    -- The author has left the pair since lock_first_authors ran. The client sends the message again.
                    RAISE EXCEPTION 'the author has left' USING ERRCODE = 'serialization_failure';
                ELSIF conversations.is_full(v_user.id, p_most - cardinality(v_answered)) THEN
                    code := 'too_many_conversations';
                END IF;
                v_answered := array_append(v_answered, v_conversation.id);
            END IF;
        END LOOP;
        IF cardinality(p_ids) > 1 THEN
            PERFORM conversations.lock_messages(p_ids);
        END IF;
        IF cardinality(v_held) < cardinality(v_conversations) THEN
            code := 'no_such_conversation';
        END IF;
        IF code IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;

    -- The time is read after the locks are taken, so that later numbers have later times.
    v_now := core.clock();
    FOREACH v_conversation IN ARRAY v_held LOOP
        CONTINUE WHEN p_ids[array_position(v_conversations, v_conversation.id)] = ANY (v_known);
        v_number := v_conversation.last_number + 1;
        INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
        VALUES (
            v_conversation.id, v_number, p_ids[array_position(v_conversations, v_conversation.id)], v_user.id, p_content,
            v_now);
        UPDATE conversations.conversation AS held SET
            last_number = v_number, used_at = v_now,
            unanswered_by = CASE WHEN held.unanswered_by = v_user.id THEN v_user.id END
        WHERE held.id = v_conversation.id;
        IF v_conversation.id = ANY (v_answered) THEN
            UPDATE conversations.participant AS own SET left_number = NULL, invited_by = NULL
            WHERE own.conversation_id = v_conversation.id AND own.user_id = v_user.id;
        END IF;
        IF v_conversation.kind = 'person' THEN
            v_returning := conversations.returning_users(v_conversation.id);
            IF v_returning <> '{}' THEN
                UPDATE conversations.participant AS gone SET left_number = NULL, invited_by = v_user.id
                WHERE gone.conversation_id = v_conversation.id AND gone.user_id = ANY (v_returning);
                PERFORM conversations.leave_excess(v_returning, p_most);
            END IF;
        END IF;
        IF v_goes_out THEN
            PERFORM conversations.write_bridge_message(v_conversation.id, v_number);
        END IF;
        PERFORM conversations.notify_absent(v_conversation.id, v_number, v_user.id, v_now);
        v_names := array_to_string(conversations.names_in(v_conversation.id), '.');
        PERFORM pg_notify(
            'letsswitch_messages', concat_ws(' ', v_conversation.id, v_number, nullif(p_origin, ''), v_names));
    END LOOP;
    RETURN QUERY
    SELECT
        CASE WHEN said.id = ANY (v_known) THEN 'repeated' ELSE 'sent' END,
        said.conversation_id, conversation.kind, said.number, said.id, v_user.name, said.content,
        floor(extract(epoch FROM said.sent_at))::bigint,
        -- If there is only one message, its names are already known.
        CASE WHEN cardinality(p_ids) = 1 AND v_names IS NOT NULL THEN v_names
            ELSE array_to_string(conversations.names_in(said.conversation_id), '.') END,
        v_makes, conversation.epoch
    FROM unnest(p_ids) WITH ORDINALITY AS wanted (id, place)
    JOIN conversations.message AS said ON said.id = wanted.id
    JOIN conversations.conversation ON conversation.id = said.conversation_id
    ORDER BY wanted.place;
END
$$;

-- Stores messages that arrived together, each by its author in one conversation, like send_messages. Returns one row
-- per message with its place in the arrays, from 1. The result of a message doesn't depend on the others. The messages
-- of one conversation keep their order.
CREATE FUNCTION conversations.send_together(
    p_devices text[], p_conversations uuid[], p_ids uuid[], p_contents text[], p_most integer, p_has_space boolean, p_origin text
) RETURNS TABLE (
    place bigint, code text, conversation_id uuid, kind text, number bigint, id uuid, author text, content text, sent_at bigint,
    names text, makes_conversation boolean, epoch text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_message record;
BEGIN
    -- All locks are taken before anything is written, in the usual order: users, conversations by their ids, then the
    -- ids of messages. Clients choose the message ids. Without the last lock, transactions would wait for each other at
    -- the index, in any order.
    PERFORM conversations.lock_first_authors(p_devices, p_conversations);
    PERFORM FROM conversations.chat_user AS own
    WHERE own.device_id = ANY (p_devices) AND own.name IS NOT NULL ORDER BY own.id FOR KEY SHARE;
    PERFORM FROM conversations.conversation AS held WHERE held.id = ANY (p_conversations) ORDER BY held.id FOR UPDATE;
    PERFORM conversations.lock_messages(p_ids);
    FOR v_message IN
        SELECT * FROM unnest(p_devices, p_conversations, p_ids, p_contents)
            WITH ORDINALITY AS said (device_id, conversation_id, id, content, place)
        ORDER BY said.conversation_id, said.place
    LOOP
        RETURN QUERY SELECT v_message.place, sent.* FROM conversations.send_messages(
            v_message.device_id, ARRAY[v_message.conversation_id], ARRAY[v_message.id], v_message.content, NULL, p_most, p_has_space, false,
            p_origin) AS sent;
    END LOOP;
END
$$;
