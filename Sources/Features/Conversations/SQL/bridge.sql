-- Messages of conversations that go to a RabbitMQ broker, or come from it.

-- Out --------------------------------------------------------------------------------------------------------------

-- Whether messages are sent to a broker: a daemon with a broker has run within the last seven days.
CREATE FUNCTION conversations.has_bridge() RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM conversations.bridge WHERE bridge.name = 'amqp' AND bridge.seen_at > core.clock() - interval '7 days'
    )
$$;

-- Puts a message into the outbox of the bridge, in the transaction of the message.
CREATE FUNCTION conversations.write_bridge_message(p_conversation uuid, p_number bigint) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO conversations.bridge_message (conversation_id, number, user_ids)
    SELECT p_conversation, p_number, array_agg(own.user_id)
    FROM conversations.participant AS own
    WHERE own.conversation_id = p_conversation AND own.left_number IS NULL
    HAVING count(*) > 0
$$;

-- Records that a daemon with a broker runs, at most every ten minutes. Returns the number of messages in the outbox,
-- counted up to 10,000.
CREATE FUNCTION conversations.touch_bridge() RETURNS bigint
LANGUAGE sql AS $$
    INSERT INTO conversations.bridge (name, seen_at) VALUES ('amqp', core.clock())
    ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
    WHERE bridge.seen_at < excluded.seen_at - interval '10 minutes';
    SELECT count(*) FROM (SELECT FROM conversations.bridge_message LIMIT 10000) AS counted
$$;

-- Returns the first p_limit messages for the broker, in order. Only one daemon at a time sends. If no other daemon
-- does, this daemon becomes the sender for p_lease seconds.
--
-- Returns one row whose `place` is NULL if there is no message, or if another daemon is the sender. In the latter case
-- held_for has the seconds until that daemon's lease ends. A row whose `id` is NULL stands for a message that was
-- deleted. `waiting` is the number of messages in the outbox, counted up to 10,000.
CREATE FUNCTION conversations.lease_bridge_messages(p_daemon uuid, p_limit integer, p_lease double precision)
RETURNS TABLE (
    held_for double precision, waiting bigint, place bigint, conversation_id uuid, number bigint, id uuid, author text,
    content text, sent_at bigint, routing_key text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    waiting := conversations.touch_bridge();
    UPDATE conversations.bridge SET sender_id = p_daemon, lease_until = v_now + make_interval(secs => p_lease)
    WHERE bridge.name = 'amqp' AND (bridge.sender_id IS NULL OR bridge.sender_id = p_daemon OR bridge.lease_until <= v_now);
    IF NOT FOUND THEN
        -- The lease may have been released since the UPDATE.
        SELECT coalesce(extract(epoch FROM bridge.lease_until - v_now), 0) INTO held_for
        FROM conversations.bridge WHERE bridge.name = 'amqp';
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        NULL::double precision, waiting, own.id, own.conversation_id, own.number, stored.id, author.name, stored.content,
        floor(extract(epoch FROM stored.sent_at))::bigint,
        (
            SELECT string_agg(inside.name, '.' ORDER BY inside.name) FROM conversations.chat_user AS inside
            WHERE inside.id = ANY (own.user_ids) AND inside.name IS NOT NULL
        )
    FROM (SELECT * FROM conversations.bridge_message AS first ORDER BY first.id LIMIT p_limit) AS own
    LEFT JOIN conversations.message AS stored
        ON stored.conversation_id = own.conversation_id AND stored.number = own.number AND stored.content IS NOT NULL
        -- Messages of an erased author aren't sent, even if their content isn't deleted yet.
        AND EXISTS (SELECT FROM conversations.chat_user AS named WHERE named.id = stored.author_id AND named.name IS NOT NULL)
    LEFT JOIN conversations.chat_user AS author ON author.id = stored.author_id
    ORDER BY own.id;
    IF NOT FOUND THEN
        RETURN NEXT;
    END IF;
END
$$;

-- Deletes messages from the outbox after the broker has confirmed them.
CREATE FUNCTION conversations.finish_bridge_messages(p_ids bigint[]) RETURNS void
LANGUAGE sql AS $$ DELETE FROM conversations.bridge_message WHERE bridge_message.id = ANY (p_ids) $$;

-- Ends a daemon's lease, so that another daemon can send.
CREATE FUNCTION conversations.release_bridge(p_daemon uuid) RETURNS void
LANGUAGE sql AS $$
    UPDATE conversations.bridge SET sender_id = NULL, lease_until = NULL WHERE bridge.sender_id = p_daemon
$$;

-- In ---------------------------------------------------------------------------------------------------------------

-- Finds the conversation for a message from the broker to exactly these users. If the conversation p_conversation
-- exists, it must have these participants; otherwise the result code is other_participants. If it doesn't exist,
-- open_conversation finds or creates a conversation. Result codes: NULL (success), other_participants, and the refusals
-- of open_conversation, where the other parameters are explained.
CREATE FUNCTION conversations.find_for_bridge(
    p_conversation uuid, p_user bigint, p_members bigint[], p_finds boolean, p_most integer, p_has_space boolean,
    OUT code text, OUT conversation_id uuid
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_known conversations.conversation;
BEGIN
    SELECT * INTO v_known FROM conversations.conversation AS known WHERE known.id = p_conversation;
    IF NOT FOUND THEN
        SELECT opened.code, opened.conversation_id INTO code, conversation_id
        FROM conversations.open_conversation(p_conversation, p_user, p_members, p_finds, p_most, p_has_space) AS opened;
        IF code IN ('made', 'there') THEN
            code := NULL;
        END IF;
    ELSIF p_members = (
        CASE WHEN v_known.kind = 'person' THEN v_known.members ELSE ARRAY(
            SELECT own.user_id FROM conversations.participant AS own
            WHERE own.conversation_id = p_conversation AND own.left_number IS NULL ORDER BY own.user_id
        ) END
    ) THEN
        conversation_id := p_conversation;
    ELSE
        code := 'other_participants';
    END IF;
END
$$;

-- Stores a message from the broker under its id. The message isn't sent back to the broker. p_names are the author and
-- the other participants. If p_conversation is NULL, the names alone choose the conversation. Result codes: those of
-- send_messages, and other_participants.
CREATE FUNCTION conversations.receive_message(
    p_author text, p_conversation uuid, p_id uuid, p_content text, p_names text[], p_most integer,
    p_has_space boolean, p_has_space_for_conversation boolean, p_origin text
) RETURNS TABLE (
    code text, conversation_id uuid, kind text, number bigint, id uuid, author text, content text, sent_at bigint, names text,
    makes_conversation boolean, epoch text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user conversations.chat_user;
    v_members bigint[];
    v_known conversations.message;
    -- The id of the conversation if it has to be created.
    v_wanted uuid := coalesce(p_conversation, gen_random_uuid());
    v_conversation uuid;
    v_makes boolean;
BEGIN
    SELECT * INTO v_user FROM conversations.chat_user AS own WHERE own.name = p_author COLLATE "C";
    v_members := conversations.members_named(v_user.id, p_names);
    SELECT * INTO v_known FROM conversations.message AS stored WHERE stored.id = p_id;
    -- A message that isn't stored must not create a conversation.
    IF v_known.id IS NOT NULL AND v_known.author_id = v_user.id AND v_known.content = p_content THEN
        -- A conversation of two may have a different id than p_conversation.
        v_conversation := v_known.conversation_id;
    ELSIF v_known.id IS NOT NULL THEN
        code := 'id_taken';
    ELSIF v_user.id IS NULL OR v_members IS NULL THEN
        code := 'no_such_user';
    ELSIF NOT p_has_space THEN
        code := 'messages_full';
    ELSE
        v_makes := NOT EXISTS (SELECT FROM conversations.conversation AS own WHERE own.id = v_wanted);
        SELECT found.code, found.conversation_id INTO code, v_conversation
        FROM conversations.find_for_bridge(
            v_wanted, v_user.id, v_members, p_conversation IS NULL, p_most, p_has_space_for_conversation) AS found;
        -- If the two users already have a conversation, it has a different id, and wasn't created here.
        v_makes := v_makes AND v_conversation = v_wanted;
    END IF;
    IF code IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        sent.code, sent.conversation_id, sent.kind, sent.number, sent.id, sent.author, sent.content, sent.sent_at, sent.names,
        coalesce(v_makes, false), sent.epoch
    FROM conversations.send_messages(
        v_user.device_id, ARRAY[v_conversation], ARRAY[p_id], p_content, NULL, p_most, p_has_space,
        p_has_space_for_conversation, p_origin, false) AS sent;
END
$$;
