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

-- A message before it is stored.
CREATE TYPE conversations.new_message AS (
    author_id bigint,
    content text,
    sent_at timestamptz,
    -- The limit of conversations that a user has created or written in.
    most integer,
    -- The daemon's tag for the connection that sends the message.
    origin text,
    -- Whether the message is also sent to the broker.
    goes_out boolean
);

-- The conversations that a message is stored in.
CREATE TYPE conversations.destination AS (
    -- Why the message can't be stored. NULL: it can. The other columns are set if it can.
    refusal text,
    -- In the order of the message's ids.
    conversations uuid[],
    -- Whether the conversation was created for this message.
    was_made boolean,
    -- The rows of the conversations, which are locked.
    held conversations.conversation[],
    -- The conversations that begin to count against the author's quota.
    answered uuid[]
);

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
    v_known uuid[];
    v_to conversations.destination := ROW(NULL, p_conversations, false, '{}', '{}')::conversations.destination;
    v_conversation conversations.conversation;
    v_message conversations.new_message;
    v_id uuid;
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
    v_known := conversations.repeated_messages(v_user.id, p_conversations, p_ids, p_content, p_names, v_members);
    IF cardinality(v_known) < cardinality(p_ids) THEN
        -- All refusals that need no lock come before anything is written.
        v_to := conversations.find_destination(
            v_user.id, p_conversations, p_ids, v_known, p_names, v_members, p_most, p_has_space,
            p_has_space_for_conversation);
        v_to := conversations.lock_destination(v_to, v_user, p_ids, p_most);
        IF v_to.refusal IS NOT NULL THEN
            code := v_to.refusal;
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    -- The time is read after the locks are taken, so that later numbers have later times.
    v_message := ROW(v_user.id, p_content, core.clock(), p_most, p_origin, v_goes_out)::conversations.new_message;
    FOREACH v_conversation IN ARRAY v_to.held LOOP
        v_id := p_ids[array_position(v_to.conversations, v_conversation.id)];
        CONTINUE WHEN v_id = ANY (v_known);
        v_names := conversations.store_message(
            v_message, v_id, v_conversation, v_conversation.id = ANY (v_to.answered));
    END LOOP;
    RETURN QUERY SELECT * FROM conversations.sent_messages(
        p_ids, v_known, v_user.name, CASE WHEN cardinality(p_ids) = 1 THEN v_names END, v_to.was_made);
END
$$;

-- Returns those of these message ids under which the same request is already stored: the author's message with this
-- content, in the conversation that p_conversations has for the id. If p_names is given, it is in the conversation of
-- p_members; NULL stands for any conversation.
CREATE FUNCTION conversations.repeated_messages(
    p_author bigint, p_conversations uuid[], p_ids uuid[], p_content text, p_names text[], p_members bigint[]
) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        -- One lookup per id, whatever the planner's statistics say: the author may have written a million messages.
        SELECT stored.id FROM unnest(p_ids) AS wanted (id)
        CROSS JOIN LATERAL (SELECT * FROM conversations.message WHERE message.id = wanted.id LIMIT 1) AS stored
        JOIN conversations.conversation ON conversation.id = stored.conversation_id
        WHERE stored.author_id = p_author AND stored.content = p_content AND CASE
            WHEN p_names IS NULL THEN stored.conversation_id = p_conversations[array_position(p_ids, stored.id)]
            -- If a name doesn't exist any more, that user may have been erased since the message was stored.
            ELSE p_members IS NULL OR conversation.members = p_members
        END
    );
END
$$;

-- Returns the conversations of a message that isn't stored yet, before they are locked. If p_names is given, the
-- conversation of p_members is found or created. p_known are the ids that repeated_messages returned. Refusals:
-- id_taken, messages_full, no_such_user, and those of open_conversation.
CREATE FUNCTION conversations.find_destination(
    p_author bigint, p_conversations uuid[], p_ids uuid[], p_known uuid[], p_names text[], p_members bigint[],
    p_most integer, p_has_space boolean, p_has_space_for_conversation boolean
) RETURNS conversations.destination
LANGUAGE plpgsql AS $$
DECLARE
    v_to conversations.destination := ROW(NULL, p_conversations, false, '{}', '{}')::conversations.destination;
BEGIN
    IF EXISTS (SELECT FROM conversations.message AS stored WHERE stored.id = ANY (p_ids) AND stored.id <> ALL (p_known)) THEN
        v_to.refusal := 'id_taken';
    ELSIF NOT p_has_space THEN
        v_to.refusal := 'messages_full';
    ELSIF p_names IS NOT NULL AND p_members IS NULL THEN
        v_to.refusal := 'no_such_user';
    ELSIF p_names IS NOT NULL THEN
        SELECT nullif(nullif(opened.code, 'made'), 'there'), ARRAY[opened.conversation_id], opened.code = 'made'
        INTO v_to.refusal, v_to.conversations, v_to.was_made
        FROM conversations.open_conversation(
            p_conversations[1], p_author, p_members, true, p_most, p_has_space_for_conversation) AS opened;
    END IF;
    RETURN v_to;
END
$$;

-- Locks the conversations of a message, after the author's row if one of them begins to count against the author's
-- quota. Several ids are then locked too. If p_to has a refusal, returns p_to and locks nothing. Further refusals:
-- no_such_conversation, blocked, too_many_conversations.
CREATE FUNCTION conversations.lock_destination(
    p_to conversations.destination, p_author conversations.chat_user, p_ids uuid[], p_most integer
) RETURNS conversations.destination
LANGUAGE plpgsql AS $$
DECLARE
    v_to conversations.destination := p_to;
    v_is_answering boolean;
    v_conversation conversations.conversation;
    v_own conversations.participant;
BEGIN
    IF p_to.refusal IS NOT NULL THEN
        RETURN p_to;
    END IF;
    v_is_answering := p_author.id = ANY (
        conversations.lock_first_authors(ARRAY[p_author.device_id], p_to.conversations));
    FOR v_conversation IN
        SELECT * FROM conversations.conversation AS wanted
        WHERE wanted.id = ANY (p_to.conversations) ORDER BY wanted.id FOR UPDATE
    LOOP
        SELECT * INTO v_own FROM conversations.participant AS own
        WHERE own.conversation_id = v_conversation.id AND own.user_id = p_author.id;
        CONTINUE WHEN NOT FOUND OR v_own.left_number IS NOT NULL AND v_conversation.kind <> 'person';
        v_to.held := array_append(v_to.held, v_conversation);
        IF v_conversation.kind = 'person' AND conversations.is_blocked_among(v_conversation.members) THEN
            v_to.refusal := 'blocked';
        ELSIF v_own.invited_by IS NOT NULL OR v_own.left_number IS NOT NULL THEN
            IF NOT v_is_answering THEN
                -- The author has left the pair since lock_first_authors ran. The client sends the message again.
                RAISE EXCEPTION 'the author has left' USING ERRCODE = 'serialization_failure';
            ELSIF conversations.is_full(p_author.id, p_most - cardinality(v_to.answered)) THEN
                v_to.refusal := 'too_many_conversations';
            END IF;
            v_to.answered := array_append(v_to.answered, v_conversation.id);
        END IF;
    END LOOP;
    IF cardinality(p_ids) > 1 THEN
        PERFORM conversations.lock_messages(p_ids);
    END IF;
    IF cardinality(v_to.held) < cardinality(v_to.conversations) THEN
        v_to.refusal := 'no_such_conversation';
    END IF;
    RETURN v_to;
END
$$;

-- Stores a message in a conversation that is locked, and notifies the daemons and the absent participants. p_is_answer:
-- the conversation begins to count against the author's quota. Returns the names of the participants, separated by
-- dots.
CREATE FUNCTION conversations.store_message(
    p_message conversations.new_message, p_id uuid, p_conversation conversations.conversation, p_is_answer boolean
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_conversation uuid := p_conversation.id;
    v_number bigint := p_conversation.last_number + 1;
    v_returning bigint[];
    v_names text;
BEGIN
    INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
    VALUES (v_conversation, v_number, p_id, p_message.author_id, p_message.content, p_message.sent_at);
    UPDATE conversations.conversation AS held SET
        last_number = v_number, used_at = p_message.sent_at,
        unanswered_by = CASE WHEN held.unanswered_by = p_message.author_id THEN p_message.author_id END
    WHERE held.id = v_conversation;
    IF p_is_answer THEN
        UPDATE conversations.participant AS own SET left_number = NULL, invited_by = NULL
        WHERE own.conversation_id = v_conversation AND own.user_id = p_message.author_id;
    END IF;
    IF p_conversation.kind = 'person' THEN
        v_returning := conversations.returning_users(v_conversation);
        IF v_returning <> '{}' THEN
            UPDATE conversations.participant AS gone SET left_number = NULL, invited_by = p_message.author_id
            WHERE gone.conversation_id = v_conversation AND gone.user_id = ANY (v_returning);
            PERFORM conversations.leave_excess(v_returning, p_message.most);
        END IF;
    END IF;
    IF p_message.goes_out THEN
        PERFORM conversations.write_bridge_message(v_conversation, v_number);
    END IF;
    PERFORM conversations.notify_absent(v_conversation, v_number, p_message.author_id, p_message.sent_at);
    v_names := array_to_string(conversations.names_in(v_conversation), '.');
    PERFORM pg_notify(
        'letsswitch_messages', concat_ws(' ', v_conversation, v_number, nullif(p_message.origin, ''), v_names));
    RETURN v_names;
END
$$;

-- Returns the answer of send_messages for messages that are stored. p_known are the ids that were stored before.
-- p_names are the names of the participants if they are known, or NULL. PostgreSQL inlines this function.
CREATE FUNCTION conversations.sent_messages(
    p_ids uuid[], p_known uuid[], p_author text, p_names text, p_makes_conversation boolean
) RETURNS TABLE (
    code text, conversation_id uuid, kind text, number bigint, id uuid, author text, content text, sent_at bigint, names text,
    makes_conversation boolean, epoch text
)
LANGUAGE sql STABLE AS $$
    SELECT
        CASE WHEN stored.id = ANY (p_known) THEN 'repeated' ELSE 'sent' END,
        stored.conversation_id, conversation.kind, stored.number, stored.id, p_author, stored.content,
        floor(extract(epoch FROM stored.sent_at))::bigint,
        coalesce(p_names, array_to_string(conversations.names_in(stored.conversation_id), '.')),
        p_makes_conversation, conversation.epoch
    FROM unnest(p_ids) WITH ORDINALITY AS wanted (id, place)
    JOIN conversations.message AS stored ON stored.id = wanted.id
    JOIN conversations.conversation ON conversation.id = stored.conversation_id
    ORDER BY wanted.place
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
            WITH ORDINALITY AS stored (device_id, conversation_id, id, content, place)
        ORDER BY stored.conversation_id, stored.place
    LOOP
        RETURN QUERY SELECT v_message.place, sent.* FROM conversations.send_messages(
            v_message.device_id, ARRAY[v_message.conversation_id], ARRAY[v_message.id], v_message.content, NULL, p_most, p_has_space, false,
            p_origin) AS sent;
    END LOOP;
END
$$;
