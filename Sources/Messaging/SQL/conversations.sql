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

-- Gives a device its name, if there is room for one more. Code: made, repeated, has_name, name_taken, users_full.
CREATE FUNCTION letsswitch.take_name(p_device text, p_name text, p_has_room boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_name text;
    v_id bigint;
BEGIN
    INSERT INTO letsswitch.chat_user (name, device_id, named_at)
    SELECT p_name, p_device, letsswitch.clock() WHERE p_has_room
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

-- A conversation as a user sees it: of what was said since it left, nothing.
CREATE FUNCTION letsswitch.conversation_for(p_user bigint, p_conversation uuid) RETURNS TABLE (
    conversation_id uuid, kind text, names text, last_number bigint, read_number bigint, is_muted boolean,
    number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        conversation.id, conversation.kind, array_to_string(letsswitch.names_in(conversation.id), ','),
        coalesce(own.left_number, conversation.last_number), own.read_number, own.is_muted,
        last.number, last.id, author.name, last.content, floor(extract(epoch FROM last.sent_at))::bigint
    FROM letsswitch.conversation
    JOIN letsswitch.participant AS own ON own.conversation_id = conversation.id AND own.user_id = p_user
    LEFT JOIN letsswitch.message AS last ON last.conversation_id = conversation.id
        AND last.number = coalesce(own.left_number, conversation.last_number)
    LEFT JOIN letsswitch.chat_user AS author ON author.id = last.author_id
    WHERE conversation.id = p_conversation
$$;

-- Has those of these come back who have left a pair. Code: there, too_many_conversations (p_most: of each of them).
CREATE FUNCTION letsswitch.come_back(p_conversation uuid, p_users bigint[], p_most integer) RETURNS text
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
        code := letsswitch.come_back(v_conversation, ARRAY[v_user], p_most);
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
    END IF;
    RETURN QUERY SELECT 'done', changed.* FROM letsswitch.conversation_for(v_user, p_conversation) AS changed;
END
$$;

-- Messages ---------------------------------------------------------------------------------------------------------

-- Those who have left a pair, and whom its next message brings back.
CREATE FUNCTION letsswitch.returning_to(p_conversation uuid) RETURNS bigint[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(gone.user_id), '{}')
    FROM letsswitch.participant AS gone
    JOIN letsswitch.chat_user AS own ON own.id = gone.user_id AND own.name IS NOT NULL
    WHERE gone.conversation_id = p_conversation AND gone.left_number IS NOT NULL
$$;

-- Says something in conversations, under an id in each; with p_names in the one of exactly these, which is made with the first id of
-- p_conversations if there is none. All or none. What was said before is answered so, whatever has changed since. Where somebody takes
-- one of the ids at this moment it fails with unique_violation: the next call sees it. What has come from a broker doesn't go out to it.
-- Code: sent, repeated, name_required, no_such_user, no_such_conversation, id_taken, blocked, messages_full, and open_conversation's.
CREATE FUNCTION letsswitch.send_messages(
    p_device text, p_conversations uuid[], p_ids uuid[], p_content text, p_names text[], p_most integer,
    p_has_room boolean, p_has_room_for_conversation boolean, p_origin text, p_goes_out boolean DEFAULT true
) RETURNS TABLE (
    code text, conversation_id uuid, kind text, number bigint, id uuid, author text, content text, sent_at bigint, names text,
    makes_conversation boolean, epoch text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user letsswitch.chat_user;
    v_members bigint[];
    v_conversations uuid[] := p_conversations;
    v_conversation letsswitch.conversation;
    v_held letsswitch.conversation[] := '{}';
    v_known uuid[];
    v_makes boolean := false;
    v_now timestamptz;
    v_number bigint;
    v_names text;
    v_goes_out boolean := p_goes_out AND letsswitch.has_bridge();
BEGIN
    -- Who is being erased at this moment says no more, or is erased with it.
    SELECT * INTO v_user FROM letsswitch.chat_user AS own
    WHERE own.device_id = p_device AND own.name IS NOT NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        code := 'name_required';
        RETURN NEXT;
        RETURN;
    END IF;
    v_members := letsswitch.members_named(v_user.id, p_names);
    v_known := ARRAY(
        SELECT said.id FROM letsswitch.message AS said
        JOIN letsswitch.conversation ON conversation.id = said.conversation_id
        WHERE said.id = ANY (p_ids) AND said.author_id = v_user.id AND said.content = p_content AND CASE
            WHEN p_names IS NULL THEN said.conversation_id = p_conversations[array_position(p_ids, said.id)]
            -- One of these may have been erased since.
            ELSE v_members IS NULL OR conversation.members = v_members
        END
    );
    IF cardinality(v_known) < cardinality(p_ids) THEN
        -- Nothing is made before all of this is known.
        IF EXISTS (SELECT FROM letsswitch.message AS said WHERE said.id = ANY (p_ids) AND said.id <> ALL (v_known)) THEN
            code := 'id_taken';
        ELSIF NOT p_has_room THEN
            code := 'messages_full';
        ELSIF p_names IS NOT NULL AND v_members IS NULL THEN
            code := 'no_such_user';
        ELSIF p_names IS NOT NULL THEN
            SELECT opened.code, ARRAY[opened.conversation_id] INTO code, v_conversations
            FROM letsswitch.open_conversation(
                p_conversations[1], v_user.id, v_members, true, p_most, p_has_room_for_conversation) AS opened;
            v_makes := code = 'made';
            IF code IN ('made', 'there') THEN
                code := NULL;
            END IF;
        END IF;
        IF code IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;

        FOR v_conversation IN
            SELECT * FROM letsswitch.conversation AS wanted
            WHERE wanted.id = ANY (v_conversations) ORDER BY wanted.id FOR UPDATE
        LOOP
            IF EXISTS (
                SELECT FROM letsswitch.participant AS own
                WHERE own.conversation_id = v_conversation.id AND own.user_id = v_user.id
                    AND (own.left_number IS NULL OR v_conversation.kind = 'person')
            ) THEN
                v_held := array_append(v_held, v_conversation);
            END IF;
            CONTINUE WHEN v_conversation.kind <> 'person';
            IF letsswitch.is_blocked_among(v_user.id, v_conversation.members) THEN
                code := 'blocked';
            ELSIF letsswitch.is_full_among(letsswitch.returning_to(v_conversation.id), p_most) THEN
                code := 'too_many_conversations';
            END IF;
        END LOOP;
        IF cardinality(v_held) < cardinality(v_conversations) THEN
            code := 'no_such_conversation';
        END IF;
        IF code IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;

    -- After the locks, so that it grows with the numbers.
    v_now := letsswitch.clock();
    FOREACH v_conversation IN ARRAY v_held LOOP
        CONTINUE WHEN p_ids[array_position(v_conversations, v_conversation.id)] = ANY (v_known);
        v_number := v_conversation.last_number + 1;
        INSERT INTO letsswitch.message (conversation_id, number, id, author_id, content, sent_at)
        VALUES (
            v_conversation.id, v_number, p_ids[array_position(v_conversations, v_conversation.id)], v_user.id, p_content,
            v_now);
        UPDATE letsswitch.conversation AS held SET last_number = v_number, used_at = v_now WHERE held.id = v_conversation.id;
        IF v_conversation.kind = 'person' THEN
            -- It brings both back.
            UPDATE letsswitch.participant AS gone SET left_number = NULL
            WHERE gone.conversation_id = v_conversation.id
                AND gone.user_id = ANY (letsswitch.returning_to(v_conversation.id));
        END IF;
        IF v_goes_out THEN
            PERFORM letsswitch.write_bridge_message(v_conversation.id, v_number);
        END IF;
        PERFORM letsswitch.notify_absent(v_conversation.id, v_number, v_user.id, v_now);
        v_names := array_to_string(letsswitch.names_in(v_conversation.id), '.');
        PERFORM pg_notify(
            'letsswitch_messages', concat_ws(' ', v_conversation.id, v_number, nullif(p_origin, ''), v_names));
    END LOOP;
    RETURN QUERY
    SELECT
        CASE WHEN said.id = ANY (v_known) THEN 'repeated' ELSE 'sent' END,
        said.conversation_id, conversation.kind, said.number, said.id, v_user.name, said.content,
        floor(extract(epoch FROM said.sent_at))::bigint,
        -- Of one, it is known.
        CASE WHEN cardinality(p_ids) = 1 AND v_names IS NOT NULL THEN v_names
            ELSE array_to_string(letsswitch.names_in(said.conversation_id), '.') END,
        v_makes, conversation.epoch
    FROM unnest(p_ids) WITH ORDINALITY AS wanted (id, place)
    JOIN letsswitch.message AS said ON said.id = wanted.id
    JOIN letsswitch.conversation ON conversation.id = said.conversation_id
    ORDER BY wanted.place;
END
$$;

-- Says things that have come together, each by whoever says it in one conversation, as send_messages does: a row each, whatever becomes of
-- the others, under its place from 1. Those of one conversation in their order.
CREATE FUNCTION letsswitch.send_together(
    p_devices text[], p_conversations uuid[], p_ids uuid[], p_contents text[], p_most integer, p_has_room boolean, p_origin text
) RETURNS TABLE (
    place bigint, code text, conversation_id uuid, kind text, number bigint, id uuid, author text, content text, sent_at bigint,
    names text, makes_conversation boolean, epoch text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_said record;
BEGIN
    -- All that any of these waits for, before anything is written, and in the order of everybody: users, then conversations, by their ids.
    PERFORM FROM letsswitch.chat_user AS own
    WHERE own.device_id = ANY (p_devices) AND own.name IS NOT NULL ORDER BY own.id FOR KEY SHARE;
    PERFORM FROM letsswitch.conversation AS held WHERE held.id = ANY (p_conversations) ORDER BY held.id FOR UPDATE;
    FOR v_said IN
        SELECT * FROM unnest(p_devices, p_conversations, p_ids, p_contents)
            WITH ORDINALITY AS said (device_id, conversation_id, id, content, place)
        ORDER BY said.conversation_id, said.place
    LOOP
        RETURN QUERY SELECT v_said.place, sent.* FROM letsswitch.send_messages(
            v_said.device_id, ARRAY[v_said.conversation_id], ARRAY[v_said.id], v_said.content, NULL, p_most, p_has_room, false,
            p_origin) AS sent;
    END LOOP;
END
$$;

-- Reading ----------------------------------------------------------------------------------------------------------

CREATE FUNCTION letsswitch.microseconds(p_instant timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT (extract(epoch FROM p_instant) * 1000000)::bigint
$$;

-- The names that begin so, in order.
CREATE FUNCTION letsswitch.list_users(p_prefix text, p_limit integer) RETURNS TABLE (name text)
LANGUAGE sql STABLE AS $$
    -- Names have nothing behind '~'.
    SELECT own.name FROM letsswitch.chat_user AS own
    WHERE own.name >= p_prefix COLLATE "C" AND own.name < (p_prefix || '~') COLLATE "C"
    ORDER BY own.name LIMIT p_limit
$$;

-- A user's conversations, the latest first; one row without a conversation if there is none. A pair that it has left isn't shown. With
-- p_before beyond that one, as it stood at p_used_at, a page's used_at (NULL: as it stands, and is_beyond tells whether it is one of them).
CREATE FUNCTION letsswitch.list_conversations(
    p_device text, p_before uuid, p_used_at bigint, p_limit integer
) RETURNS TABLE (
    name text, is_beyond boolean, used_at bigint, conversation_id uuid, kind text, names text, last_number bigint,
    read_number bigint, is_muted boolean, number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE sql STABLE AS $$
    SELECT me.name, p_before IS NULL OR place.used_at IS NOT NULL, letsswitch.microseconds(own.used_at), shown.*
    FROM letsswitch.user_of(p_device) AS me
    LEFT JOIN LATERAL (
        SELECT coalesce(p_used_at, (
            SELECT letsswitch.microseconds(last.used_at) FROM letsswitch.conversation AS last
            JOIN letsswitch.participant ON participant.conversation_id = last.id AND participant.user_id = me.id
            WHERE last.id = p_before
        )) AS used_at
    ) AS place ON true
    LEFT JOIN LATERAL (
        SELECT conversation.id, conversation.used_at
        FROM letsswitch.participant AS own
        JOIN letsswitch.conversation ON conversation.id = own.conversation_id
        WHERE own.user_id = me.id AND (own.left_number IS NULL OR conversation.kind = 'group') AND (
            p_before IS NULL
            OR (letsswitch.microseconds(conversation.used_at), conversation.id) < (place.used_at, p_before)
        )
        ORDER BY conversation.used_at DESC, conversation.id DESC LIMIT p_limit
    ) AS own ON true
    LEFT JOIN LATERAL letsswitch.conversation_for(me.id, own.id) AS shown ON true
    ORDER BY own.used_at DESC, own.id DESC
$$;

-- Where a user's conversations stand, the latest first, and behind them those that it has left, with where they stood then; p_limit in
-- all. One row without a conversation if there is none.
CREATE FUNCTION letsswitch.positions(p_device text, p_limit integer) RETURNS TABLE (
    name text, user_id bigint, conversation_id uuid, last_number bigint, has_left boolean
)
LANGUAGE sql STABLE AS $$
    SELECT me.name, me.id, own.id, own.last_number, own.has_left
    FROM letsswitch.user_of(p_device) AS me
    LEFT JOIN LATERAL (
        SELECT
            conversation.id, coalesce(own.left_number, conversation.last_number) AS last_number,
            own.left_number IS NOT NULL AS has_left, conversation.used_at
        FROM letsswitch.participant AS own
        JOIN letsswitch.conversation ON conversation.id = own.conversation_id
        WHERE own.user_id = me.id
        ORDER BY has_left, used_at DESC LIMIT p_limit
    ) AS own ON true
    ORDER BY own.has_left, own.used_at DESC
$$;

-- The number of the last message of a conversation that was said before an instant, of those up to p_last; 0 if none was. Instants grow with
-- numbers: so it is looked for by halves, in as many steps as p_last has bits, whatever was purged between.
CREATE FUNCTION letsswitch.number_before(p_conversation uuid, p_last bigint, p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- What was said before is up to v_low, what wasn't behind v_high.
    v_low bigint := 0;
    v_high bigint := p_last;
    v_middle bigint;
    v_sent timestamptz;
BEGIN
    WHILE v_low < v_high LOOP
        v_middle := v_low + (v_high - v_low + 1) / 2;
        v_sent := NULL;
        SELECT said.sent_at INTO v_sent FROM letsswitch.message AS said
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

-- From where on a user's conversations can be told anew, as positions has them; with p_conversation, that one. `first_number` is that of the
-- first message that is kept; what was said since p_since, an instant in epoch seconds, lies behind `since_number`, which is NULL without
-- p_since and of p_named.
CREATE FUNCTION letsswitch.histories(
    p_device text, p_conversation uuid, p_since double precision, p_named uuid[], p_limit integer
) RETURNS TABLE (conversation_id uuid, epoch text, last_number bigint, first_number bigint, since_number bigint)
LANGUAGE sql STABLE AS $$
    SELECT
        own.conversation_id, conversation.epoch, own.last_number,
        coalesce((
            SELECT kept.number FROM letsswitch.message AS kept
            WHERE kept.conversation_id = own.conversation_id ORDER BY kept.number LIMIT 1
        ), conversation.last_number + 1),
        CASE
            WHEN p_since IS NULL OR own.conversation_id = ANY (p_named) THEN NULL
            WHEN conversation.used_at < since.at THEN own.last_number
            ELSE letsswitch.number_before(own.conversation_id, own.last_number, since.at)
        END
    FROM letsswitch.positions(p_device, p_limit) AS own
    JOIN letsswitch.conversation ON conversation.id = own.conversation_id
    CROSS JOIN LATERAL (SELECT to_timestamp(p_since) AS at) AS since
    WHERE p_conversation IS NULL OR own.conversation_id = p_conversation
$$;

-- What was said in a conversation, in order: after p_after the first p_limit messages, or, with p_before, the last ones before that; fewer
-- where all would be more than p_bytes of JSON, each as a socket is told it, but one at least. One row without a message if there is none.
-- With p_device as that one sees it; no row if it isn't, nor was, in it. Without, everything.
CREATE FUNCTION letsswitch.list_messages(
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
            stands.kind, stands.last_number, stands.epoch, array_to_string(letsswitch.names_in(p_conversation), '.') AS names
        FROM (
            SELECT conversation.kind, conversation.last_number, conversation.epoch FROM letsswitch.conversation
            WHERE p_device IS NULL AND conversation.id = p_conversation
            UNION ALL
            SELECT conversation.kind, coalesce(own.left_number, conversation.last_number), conversation.epoch
            FROM letsswitch.user_of(p_device) AS me
            JOIN letsswitch.participant AS own ON own.user_id = me.id AND own.conversation_id = p_conversation
            JOIN letsswitch.conversation ON conversation.id = own.conversation_id
        ) AS stands
    ) AS seen
    LEFT JOIN LATERAL (
        SELECT
            near.*, author.name AS author, row_number() OVER nearest AS place,
            -- What else is in it, numbers at their longest, and the comma.
            sum(
                228 + length(seen.names) + coalesce(length(author.name), 0)
                + coalesce(octet_length(to_json(near.content)::text), 2)
            ) OVER nearest AS bytes
        FROM (
            (
                SELECT * FROM letsswitch.message AS next
                WHERE p_before IS NULL AND next.conversation_id = p_conversation
                    AND next.number > p_after AND next.number <= seen.last_number
                ORDER BY next.number LIMIT p_limit
            )
            UNION ALL
            (
                SELECT * FROM letsswitch.message AS previous
                WHERE p_before IS NOT NULL AND previous.conversation_id = p_conversation
                    AND previous.number < p_before AND previous.number <= seen.last_number
                ORDER BY previous.number DESC LIMIT p_limit
            )
        ) AS near
        LEFT JOIN letsswitch.chat_user AS author ON author.id = near.author_id
        WINDOW nearest AS (ORDER BY CASE WHEN p_before IS NULL THEN near.number ELSE -near.number END)
    ) AS said ON said.place = 1 OR said.bytes <= p_bytes
    ORDER BY said.number
$$;

-- Forgetting -------------------------------------------------------------------------------------------------------

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
END
$$;

-- Forgets those of these who were erased, and take part in nothing that is kept. Their names stay retired.
CREATE FUNCTION letsswitch.forget_users(p_users bigint[]) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM letsswitch.chat_user AS own
    WHERE own.id = ANY (p_users) AND own.name IS NULL AND own.device_id IS NULL
        AND NOT EXISTS (SELECT FROM letsswitch.participant WHERE participant.user_id = own.id)
$$;

-- Empties p_limit messages of a device that was erased; their numbers stay. Returns how many it emptied: more may be left until that is
-- less.
CREATE FUNCTION letsswitch.empty_messages(p_device text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_user bigint;
    v_count bigint := 0;
    v_taken bigint;
BEGIN
    LOOP
        SELECT id INTO v_user FROM letsswitch.chat_user WHERE device_id = p_device AND name IS NULL LIMIT 1;
        EXIT WHEN NOT FOUND OR v_count >= p_limit;
        UPDATE letsswitch.message SET author_id = NULL, content = NULL WHERE message.ctid = ANY (ARRAY(
            SELECT said.ctid FROM letsswitch.message AS said WHERE said.author_id = v_user LIMIT p_limit - v_count FOR UPDATE
        ));
        GET DIAGNOSTICS v_taken = ROW_COUNT;
        v_count := v_count + v_taken;
        IF v_count < p_limit THEN
            UPDATE letsswitch.chat_user SET device_id = NULL WHERE id = v_user;
            PERFORM letsswitch.forget_users(ARRAY[v_user]);
        END IF;
    END LOOP;
    RETURN v_count;
END
$$;

-- Forgets messages sent longer than p_retention seconds ago, and conversations in which nothing was said since; p_limit of each at a time.
-- Returns how many it took: more may be left until that is 0.
CREATE FUNCTION letsswitch.purge_messages(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_before timestamptz := letsswitch.clock() - make_interval(secs => p_retention);
    v_looked uuid[];
    v_conversations uuid[];
    v_users bigint[];
    v_taken bigint;
BEGIN
    DELETE FROM letsswitch.message WHERE message.ctid = ANY (ARRAY(
        SELECT past.ctid FROM letsswitch.message AS past
        WHERE past.sent_at < v_before ORDER BY past.sent_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_taken = ROW_COUNT;
    v_looked := ARRAY(
        SELECT past.id FROM letsswitch.conversation AS past
        WHERE past.look_at < v_before ORDER BY past.look_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    -- One in use is looked at again when what was said last in it is as old.
    UPDATE letsswitch.conversation SET look_at = conversation.used_at
    WHERE conversation.id = ANY (v_looked) AND conversation.used_at >= v_before;
    v_conversations := ARRAY(
        SELECT past.id FROM letsswitch.conversation AS past
        WHERE past.id = ANY (v_looked) AND past.used_at < v_before
            AND NOT EXISTS (SELECT FROM letsswitch.message WHERE message.conversation_id = past.id)
    );
    WITH gone AS (
        DELETE FROM letsswitch.participant WHERE participant.conversation_id = ANY (v_conversations) RETURNING user_id
    )
    SELECT array_agg(DISTINCT gone.user_id) INTO v_users FROM gone;
    PERFORM letsswitch.forget_users(v_users);
    DELETE FROM letsswitch.conversation WHERE conversation.id = ANY (v_conversations);
    RETURN v_taken + cardinality(ARRAY(
        SELECT seen.id FROM unnest(v_looked) AS seen (id)
        WHERE NOT EXISTS (
            SELECT FROM letsswitch.conversation AS past WHERE past.id = seen.id AND past.look_at < v_before
        )
    ));
END
$$;
