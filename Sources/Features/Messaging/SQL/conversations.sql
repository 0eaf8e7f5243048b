-- Conversations. Whatever says something in one takes its row first, counts its messages on and notifies letsswitch_messages with
-- "<conversation> <number> <who sent it> <names>", all in one transaction: nobody hears of what isn't stored. Who sent it is the daemon's
-- own word for itself, the names are those of the participants, with dots between them.

-- Users ------------------------------------------------------------------------------------------------------------

-- What stands for a name that nobody may have any more.
CREATE FUNCTION letsswitch.name_digest(p_name text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(secret.value || convert_to('name ' || p_name, 'UTF8')), 'hex')
    FROM letsswitch.secret WHERE secret.name = 'person'
$$;

-- Gives a device its name, if there is room for one more. Who repeats it uses it, which is written once a day at most. Code: made, repeated,
-- has_name, name_taken, users_full.
CREATE FUNCTION letsswitch.take_name(p_device text, p_name text, p_has_room boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_name text;
    v_id bigint;
BEGIN
    INSERT INTO letsswitch.chat_user (name, device_id, named_at, used_at, look_at)
    SELECT p_name, p_device, letsswitch.clock(), letsswitch.clock(), letsswitch.clock() WHERE p_has_room
    ON CONFLICT DO NOTHING
    RETURNING id INTO v_id;
    IF v_id IS NOT NULL THEN
        -- Looked for last: who is being erased at this moment has retired it before the name was free.
        IF NOT EXISTS (SELECT FROM letsswitch.retired_name WHERE digest = letsswitch.name_digest(p_name)) THEN
            RETURN 'made';
        END IF;
        DELETE FROM letsswitch.chat_user WHERE id = v_id;
        RETURN 'name_taken';
    END IF;
    -- Looked for afterwards: it may be forgotten at this moment.
    UPDATE letsswitch.chat_user SET used_at = letsswitch.clock()
    WHERE device_id = p_device AND name = p_name COLLATE "C" AND used_at < letsswitch.clock() - interval '1 day';
    SELECT name INTO v_name FROM letsswitch.chat_user WHERE device_id = p_device AND name IS NOT NULL;
    RETURN CASE
        WHEN v_name = p_name THEN 'repeated'
        WHEN FOUND THEN 'has_name'
        WHEN p_has_room OR EXISTS (SELECT FROM letsswitch.chat_user WHERE name = p_name COLLATE "C") THEN 'name_taken'
        ELSE 'users_full'
    END;
END
$$;

-- The user of a device; no row if it has no name.
CREATE FUNCTION letsswitch.user_of(p_device text) RETURNS SETOF letsswitch.chat_user
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT * FROM letsswitch.chat_user WHERE device_id = p_device AND name IS NOT NULL
$$;

CREATE FUNCTION letsswitch.user_names(p_users bigint[]) RETURNS TABLE (id bigint, name text)
LANGUAGE sql STABLE AS $$
    SELECT own.id, own.name FROM unnest(p_users) AS wanted (id)
    JOIN letsswitch.chat_user AS own ON own.id = wanted.id AND own.name IS NOT NULL
$$;

-- The users with these names and p_user, in order; NULL if a name is nobody's.
CREATE FUNCTION letsswitch.members_named(p_user bigint, p_names text[]) RETURNS bigint[]
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN count(*) = count(known.id) THEN array_agg(DISTINCT known.id ORDER BY known.id) END
    FROM (
        SELECT p_user AS id
        UNION ALL
        SELECT own.id FROM unnest(p_names) AS named (name)
        LEFT JOIN letsswitch.chat_user AS own ON own.name = named.name COLLATE "C"
    ) AS known
$$;

-- Whether one of several has blocked another who is p_user, or is blocked by that one.
CREATE FUNCTION letsswitch.is_blocked_among(p_user bigint, p_members bigint[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM letsswitch.chat_user AS own
        CROSS JOIN LATERAL unnest(p_members) AS member (id)
        JOIN letsswitch.chat_user AS other ON other.id = member.id
        WHERE own.id = p_user AND letsswitch.is_blocked(own.device_id, other.device_id)
    )
$$;

-- Conversations ----------------------------------------------------------------------------------------------------

-- The names of those inside, in order.
CREATE FUNCTION letsswitch.names_in(p_conversation uuid) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(own.name ORDER BY own.name), '{}')
    FROM letsswitch.participant
    JOIN letsswitch.chat_user AS own ON own.id = participant.user_id
    WHERE participant.conversation_id = p_conversation AND participant.left_number IS NULL AND own.name IS NOT NULL
$$;

-- Has those inside of a conversation told that it was made, that somebody has come back to it, or that p_user has left it: by
-- letsswitch_conversations, "<conversation> <made, returned or left> <user, or -> <names>".
CREATE FUNCTION letsswitch.tell_conversation(p_conversation uuid, p_change text, p_user text) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_notify('letsswitch_conversations', concat_ws(
        ' ', p_conversation, p_change, coalesce(p_user, '-'),
        array_to_string(letsswitch.names_in(p_conversation), '.')))
$$;

-- A user's conversations: those that it is inside of, and those that it has left, of which there may be more than forget_left leaves only
-- where pairs are among them. However many there are, no more are looked at.
CREATE FUNCTION letsswitch.conversations_of(p_user bigint) RETURNS TABLE (conversation_id uuid, left_number bigint)
LANGUAGE sql STABLE AS $$
    SELECT inside.conversation_id, NULL::bigint FROM letsswitch.participant AS inside
    WHERE inside.user_id = p_user AND inside.left_number IS NULL
    UNION ALL (
        SELECT gone.conversation_id, gone.left_number FROM letsswitch.participant AS gone
        WHERE gone.user_id = p_user AND gone.left_number IS NOT NULL LIMIT 2000
    )
$$;

-- Whether one of several is inside of as many conversations as anybody may be.
CREATE FUNCTION letsswitch.is_full_among(p_members bigint[], p_most integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM unnest(p_members) AS member (id)
        WHERE p_most <= (
            SELECT count(*) FROM (
                SELECT FROM letsswitch.participant AS own
                WHERE own.user_id = member.id AND own.left_number IS NULL LIMIT p_most
            ) AS inside
        )
    )
$$;

-- The conversation of exactly these: of two, theirs; of more, with p_finds the oldest that nobody has left, else the one with this id.
-- Made if there is none, and room for one more. Code: made, there, too_few, too_many, id_taken, no_such_user, blocked,
-- too_many_conversations, conversations_full. p_most: of each of them.
CREATE FUNCTION letsswitch.open_conversation(
    p_id uuid, p_user bigint, p_members bigint[], p_finds boolean, p_most integer, p_has_room boolean
) RETURNS TABLE (code text, conversation_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_count integer := cardinality(p_members);
    v_kind text := CASE WHEN v_count = 2 THEN 'person' ELSE 'group' END;
    v_members bigint[];
BEGIN
    IF v_count < 2 THEN
        code := 'too_few';
    ELSIF v_count > 64 OR 255 < (
        SELECT sum(length(own.name)) + v_count - 1 FROM letsswitch.chat_user AS own WHERE own.id = ANY (p_members)
    ) THEN
        code := 'too_many';
    END IF;
    -- The second time nobody else makes one with any of these, or erases one of them, meanwhile.
    FOR attempt IN 1..2 LOOP
        EXIT WHEN code IS NOT NULL;
        IF v_kind = 'person' THEN
            SELECT id INTO conversation_id FROM letsswitch.conversation WHERE members = p_members AND kind = 'person';
        ELSIF p_finds THEN
            SELECT id INTO conversation_id FROM letsswitch.conversation AS found
            WHERE found.members = p_members AND found.kind = 'group' AND NOT EXISTS (
                SELECT FROM letsswitch.participant AS gone
                WHERE gone.conversation_id = found.id AND gone.left_number IS NOT NULL
            )
            ORDER BY found.created_at LIMIT 1;
        ELSE
            SELECT id, members INTO conversation_id, v_members FROM letsswitch.conversation WHERE id = p_id;
            IF v_members <> p_members THEN
                code := 'id_taken';
                EXIT;
            END IF;
        END IF;
        IF conversation_id IS NOT NULL THEN
            code := 'there';
        ELSIF attempt = 1 THEN
            PERFORM FROM letsswitch.chat_user AS own WHERE own.id = ANY (p_members) ORDER BY own.id FOR NO KEY UPDATE;
        ELSIF v_count > (
            SELECT count(*) FROM letsswitch.chat_user AS own WHERE own.id = ANY (p_members) AND own.name IS NOT NULL
        ) THEN
            code := 'no_such_user';
        ELSIF letsswitch.is_blocked_among(p_user, p_members) THEN
            code := 'blocked';
        ELSIF letsswitch.is_full_among(p_members, p_most) THEN
            code := 'too_many_conversations';
        ELSIF NOT p_has_room THEN
            code := 'conversations_full';
        ELSE
            INSERT INTO letsswitch.conversation (id, kind, members, created_at, used_at, look_at)
            VALUES (p_id, v_kind, p_members, letsswitch.clock(), letsswitch.clock(), letsswitch.clock())
            ON CONFLICT DO NOTHING;
            IF FOUND THEN
                INSERT INTO letsswitch.participant (conversation_id, user_id)
                SELECT p_id, member.id FROM unnest(p_members) AS member (id);
                -- One that is made to say something in is told by that.
                IF NOT p_finds THEN
                    PERFORM letsswitch.tell_conversation(p_id, 'made', NULL);
                END IF;
                code := 'made';
                conversation_id := p_id;
            END IF;
        END IF;
    END LOOP;
    -- The id is somebody else's.
    code := coalesce(code, 'id_taken');
    RETURN NEXT;
END
$$;

-- A conversation as a user sees it: of what was said since it left, or by somebody who was erased, nothing.
CREATE FUNCTION letsswitch.conversation_for(p_user bigint, p_conversation uuid) RETURNS TABLE (
    conversation_id uuid, kind text, names text, last_number bigint, read_number bigint, is_muted boolean,
    number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        conversation.id, conversation.kind, array_to_string(letsswitch.names_in(conversation.id), ','),
        coalesce(own.left_number, conversation.last_number), own.read_number, own.is_muted,
        last.number, last.id, author.name,
        CASE WHEN author.name IS NOT NULL THEN last.content END, floor(extract(epoch FROM last.sent_at))::bigint
    FROM letsswitch.conversation
    JOIN letsswitch.participant AS own ON own.conversation_id = conversation.id AND own.user_id = p_user
    LEFT JOIN letsswitch.message AS last ON last.conversation_id = conversation.id
        AND last.number = coalesce(own.left_number, conversation.last_number)
    LEFT JOIN letsswitch.chat_user AS author ON author.id = last.author_id
    WHERE conversation.id = p_conversation
$$;

-- Has those of these come back who have left a pair. Code: there, too_many_conversations (p_most: of each of them).
CREATE FUNCTION letsswitch.rejoin_pair(p_conversation uuid, p_users bigint[], p_most integer) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_gone bigint[] := ARRAY(
        SELECT gone.user_id FROM letsswitch.participant AS gone
        JOIN letsswitch.conversation ON conversation.id = gone.conversation_id AND conversation.kind = 'person'
        WHERE gone.conversation_id = p_conversation AND gone.user_id = ANY (p_users) AND gone.left_number IS NOT NULL
    );
BEGIN
    IF cardinality(v_gone) > 0 THEN
        IF letsswitch.is_full_among(v_gone, p_most) THEN
            RETURN 'too_many_conversations';
        END IF;
        UPDATE letsswitch.participant AS gone SET left_number = NULL
        WHERE gone.conversation_id = p_conversation AND gone.user_id = ANY (v_gone);
        PERFORM letsswitch.tell_conversation(p_conversation, 'returned', NULL);
    END IF;
    RETURN 'there';
END
$$;

-- Makes a conversation, or finds it. Code: made, there, name_required, no_such_user, and open_conversation's.
CREATE FUNCTION letsswitch.make_conversation(
    p_device text, p_id uuid, p_names text[], p_most integer, p_has_room boolean
) RETURNS TABLE (
    code text, conversation_id uuid, kind text, names text, last_number bigint, read_number bigint, is_muted boolean,
    number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user bigint := (SELECT own.id FROM letsswitch.user_of(p_device) AS own);
    v_members bigint[] := letsswitch.members_named(v_user, p_names);
    v_conversation uuid;
BEGIN
    IF v_user IS NULL THEN
        code := 'name_required';
    ELSIF v_members IS NULL THEN
        code := 'no_such_user';
    ELSE
        SELECT opened.code, opened.conversation_id INTO code, v_conversation
        FROM letsswitch.open_conversation(p_id, v_user, v_members, false, p_most, p_has_room) AS opened;
    END IF;
    IF code = 'there' THEN
        code := letsswitch.rejoin_pair(v_conversation, ARRAY[v_user], p_most);
    END IF;
    IF code IN ('made', 'there') THEN
        RETURN QUERY SELECT code, made.* FROM letsswitch.conversation_for(v_user, v_conversation) AS made;
    ELSE
        RETURN NEXT;
    END IF;
END
$$;

-- What a participant does for itself: 'read' up to a number, 'mute' (1 or 0), 'leave'. Code: done, no_such_conversation.
CREATE FUNCTION letsswitch.set_participant(p_device text, p_conversation uuid, p_action text, p_value bigint)
RETURNS TABLE (
    code text, conversation_id uuid, kind text, names text, last_number bigint, read_number bigint, is_muted boolean,
    number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user bigint := (SELECT own.id FROM letsswitch.user_of(p_device) AS own);
    v_last bigint;
    v_leaves boolean := false;
BEGIN
    -- Nobody says anything while somebody leaves.
    IF p_action = 'leave' THEN
        PERFORM FROM letsswitch.conversation AS held WHERE held.id = p_conversation FOR UPDATE;
        v_leaves := EXISTS (
            SELECT FROM letsswitch.participant AS own
            WHERE own.conversation_id = p_conversation AND own.user_id = v_user AND own.left_number IS NULL
        );
    END IF;
    SELECT shown.last_number INTO v_last FROM letsswitch.conversation_for(v_user, p_conversation) AS shown;
    IF NOT FOUND THEN
        code := 'no_such_conversation';
        RETURN NEXT;
        RETURN;
    END IF;
    UPDATE letsswitch.participant AS own SET
        read_number = CASE WHEN p_action = 'read' THEN greatest(own.read_number, least(p_value, v_last))
            ELSE own.read_number END,
        is_muted = CASE WHEN p_action = 'mute' THEN p_value <> 0 ELSE own.is_muted END,
        left_number = CASE WHEN p_action = 'leave' THEN v_last ELSE own.left_number END
    WHERE own.conversation_id = p_conversation AND own.user_id = v_user;
    IF v_leaves THEN
        PERFORM letsswitch.tell_conversation(
            p_conversation, 'left', (SELECT own.name FROM letsswitch.user_of(p_device) AS own));
        PERFORM letsswitch.expire_left_groups(ARRAY[p_conversation]);
        PERFORM letsswitch.forget_left(v_user, p_conversation);
    END IF;
    RETURN QUERY SELECT 'done', changed.* FROM letsswitch.conversation_for(v_user, p_conversation) AS changed;
END
$$;

-- Forgetting -------------------------------------------------------------------------------------------------------

-- Has purge_messages take those of these groups that everybody has left: nobody comes back to one. It is held, or passed over: whoever has it
-- in hand is another who leaves it.
CREATE FUNCTION letsswitch.expire_left_groups(p_conversations uuid[]) RETURNS void
LANGUAGE sql AS $$
    UPDATE letsswitch.conversation SET look_at = '-infinity' WHERE conversation.id = ANY (ARRAY(
        SELECT own.id FROM letsswitch.conversation AS own
        WHERE own.id = ANY (p_conversations) AND own.kind = 'group' AND NOT EXISTS (
            SELECT FROM letsswitch.participant AS inside
            WHERE inside.conversation_id = own.id AND inside.left_number IS NULL
        )
        FOR UPDATE SKIP LOCKED
    ))
$$;

-- A user has left one more: of a thousand groups that it has left it keeps what there was, and forgets those that were used longest ago. A pair
-- is kept, as one that comes together again.
CREATE FUNCTION letsswitch.forget_left(p_user bigint, p_latest uuid) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM letsswitch.participant WHERE participant.ctid = ANY (ARRAY(
        SELECT gone.ctid FROM letsswitch.participant AS gone
        WHERE gone.user_id = p_user AND gone.left_number IS NOT NULL AND gone.conversation_id = ANY (ARRAY(
            SELECT conversation.id FROM letsswitch.conversations_of(p_user) AS own
            JOIN letsswitch.conversation ON conversation.id = own.conversation_id
            WHERE own.left_number IS NOT NULL AND conversation.kind = 'group' AND conversation.id <> p_latest
            ORDER BY conversation.used_at DESC, conversation.id DESC OFFSET 999
        ))
        FOR UPDATE SKIP LOCKED
    ))
$$;

-- Takes a device's name, for ever, and has it leave. What it has said goes by empty_messages.
CREATE FUNCTION letsswitch.retire_user(p_device text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_user letsswitch.chat_user;
    v_left uuid[];
BEGIN
    SELECT * INTO v_user FROM letsswitch.chat_user WHERE device_id = p_device AND name IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO letsswitch.retired_name (digest) VALUES (letsswitch.name_digest(v_user.name)) ON CONFLICT DO NOTHING;
    UPDATE letsswitch.chat_user SET name = NULL WHERE id = v_user.id;
    -- In the order in which what is said touches them.
    PERFORM FROM letsswitch.participant AS own
    WHERE own.user_id = v_user.id AND own.left_number IS NULL ORDER BY own.conversation_id FOR UPDATE;
    WITH gone AS (
        UPDATE letsswitch.participant AS own SET left_number = conversation.last_number
        FROM letsswitch.conversation
        WHERE own.user_id = v_user.id AND own.left_number IS NULL AND conversation.id = own.conversation_id
        RETURNING own.conversation_id
    )
    SELECT array_agg(gone.conversation_id) INTO v_left FROM gone;
    PERFORM letsswitch.tell_conversation(own.id, 'left', v_user.name) FROM unnest(v_left) AS own (id);
    PERFORM letsswitch.expire_left_groups(v_left);
END
$$;

-- Forgets those of these who were erased, and take part in nothing that is kept. Their names stay retired.
CREATE FUNCTION letsswitch.forget_users(p_users bigint[]) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM letsswitch.chat_user AS own
    WHERE own.id = ANY (p_users) AND own.name IS NULL AND own.device_id IS NULL
        AND NOT EXISTS (SELECT FROM letsswitch.participant WHERE participant.user_id = own.id)
$$;

-- Forgets names that nobody has used since then, p_limit at a time: they are free again. Kept is who is in the schedule or in a conversation,
-- listens, has said something that is kept, or was blocked by that name: the block would seem to be of whoever has it next. Returns how many
-- it looked at: more may be left until that is 0.
CREATE FUNCTION letsswitch.forget_names(p_before timestamptz, p_limit integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    -- Held before anything else is looked at: whoever makes a conversation with one of these, says something or blocks comes before or after.
    v_users bigint[] := ARRAY(
        SELECT own.id FROM letsswitch.chat_user AS own
        WHERE own.look_at < p_before AND own.name IS NOT NULL ORDER BY own.look_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
BEGIN
    UPDATE letsswitch.chat_user AS own SET look_at = letsswitch.clock()
    WHERE own.id = ANY (v_users) AND (
        own.used_at >= p_before
        OR EXISTS (SELECT FROM letsswitch.participant WHERE participant.user_id = own.id)
        OR EXISTS (SELECT FROM letsswitch.message WHERE message.author_id = own.id)
        OR EXISTS (SELECT FROM letsswitch.listener WHERE listener.user_id = own.id)
        OR EXISTS (SELECT FROM letsswitch.block WHERE block.blocked_id = own.device_id AND block.name IS NOT NULL)
        OR letsswitch.is_in_schedule(own.device_id)
    );
    DELETE FROM letsswitch.chat_user AS own WHERE own.id = ANY (v_users) AND own.look_at < p_before;
    RETURN cardinality(v_users);
END
$$;
