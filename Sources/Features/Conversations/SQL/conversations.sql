-- Conversations. A statement that stores a message first locks the conversation's row and increments its message
-- number. It notifies letsswitch_messages with "<conversation> <number> <sender> <names>" in the same transaction, so
-- only stored messages are announced. The sender is the daemon's own tag for the connection. The names are those of the
-- participants, separated by dots.

-- Users ------------------------------------------------------------------------------------------------------------

-- Returns the digest that is stored for a name that can't be taken any more.
CREATE FUNCTION conversations.name_digest(p_name text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(secret.value || convert_to('name ' || p_name, 'UTF8')), 'hex')
    FROM core.secret WHERE secret.name = 'person'
$$;

-- Gives a device a name, if p_has_space is true. A repeated request counts as use of the name, which is recorded at
-- most once a day. Result codes: made, repeated, has_name, name_taken, users_full.
CREATE FUNCTION conversations.take_name(p_device text, p_name text, p_has_space boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_name text;
    v_id bigint;
BEGIN
    INSERT INTO conversations.chat_user (name, device_id, named_at, used_at, checked_at)
    SELECT p_name, p_device, core.clock(), core.clock(), core.clock() WHERE p_has_space
    ON CONFLICT DO NOTHING
    RETURNING id INTO v_id;
    IF v_id IS NOT NULL THEN
        -- Checked after the insert: an erasure that made the name free has committed its retired name by now.
        IF NOT EXISTS (SELECT FROM conversations.retired_name WHERE digest = conversations.name_digest(p_name)) THEN
            RETURN 'made';
        END IF;
        DELETE FROM conversations.chat_user WHERE id = v_id;
        RETURN 'name_taken';
    END IF;
    -- The name is read after the update, because another transaction may be deleting it.
    UPDATE conversations.chat_user SET used_at = core.clock()
    WHERE device_id = p_device AND name = p_name COLLATE "C" AND used_at < core.clock() - interval '1 day';
    SELECT name INTO v_name FROM conversations.chat_user WHERE device_id = p_device AND name IS NOT NULL;
    RETURN CASE
        WHEN v_name = p_name THEN 'repeated'
        WHEN FOUND THEN 'has_name'
        WHEN p_has_space OR EXISTS (SELECT FROM conversations.chat_user WHERE name = p_name COLLATE "C") THEN 'name_taken'
        ELSE 'users_full'
    END;
END
$$;

-- Returns the user of a device. Returns no row if the device has no name.
CREATE FUNCTION conversations.user_of(p_device text) RETURNS SETOF conversations.chat_user
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT * FROM conversations.chat_user WHERE device_id = p_device AND name IS NOT NULL
$$;

-- Returns the names of these users. Erased users are left out.
CREATE FUNCTION conversations.user_names(p_users bigint[]) RETURNS TABLE (id bigint, name text)
LANGUAGE sql STABLE AS $$
    SELECT own.id, own.name FROM unnest(p_users) AS wanted (id)
    JOIN conversations.chat_user AS own ON own.id = wanted.id AND own.name IS NOT NULL
$$;

-- Returns the ids of p_user and the users with these names, in order. Returns NULL if a name doesn't exist.
CREATE FUNCTION conversations.members_named(p_user bigint, p_names text[]) RETURNS bigint[]
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN count(*) = count(known.id) THEN array_agg(DISTINCT known.id ORDER BY known.id) END
    FROM (
        SELECT p_user AS id
        UNION ALL
        SELECT own.id FROM unnest(p_names) AS named (name)
        LEFT JOIN conversations.chat_user AS own ON own.name = named.name COLLATE "C"
    ) AS known
$$;

-- Whether one of these users has blocked another of them.
CREATE FUNCTION conversations.is_blocked_among(p_members bigint[]) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM (
            SELECT array_agg(own.device_id) AS devices FROM conversations.chat_user AS own WHERE own.id = ANY (p_members)
        ) AS known
        CROSS JOIN LATERAL (
            SELECT FROM core.block
            WHERE block.device_id = ANY (known.devices) AND block.blocked_id = ANY (known.devices) LIMIT 1
        ) AS found
    )
$$;

-- Conversations ----------------------------------------------------------------------------------------------------

-- Returns the names of a conversation's participants in order. The subquery has a limit so that the planner reads one
-- user at a time by the primary key. Otherwise a plan that was made while the tables were empty would read all users
-- for each conversation.
CREATE FUNCTION conversations.names_in(p_conversation uuid) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(own.name ORDER BY own.name), '{}')
    FROM conversations.participant AS inside
    CROSS JOIN LATERAL (
        SELECT known.name FROM conversations.chat_user AS known WHERE known.id = inside.user_id LIMIT 1
    ) AS own
    WHERE inside.conversation_id = p_conversation AND inside.left_number IS NULL AND own.name IS NOT NULL
$$;

-- Notifies all daemons that a conversation was created, that a user returned, or that p_user has left. The payload of
-- letsswitch_conversations is "<conversation> <made, returned or left> <user, or -> <names>".
CREATE FUNCTION conversations.notify_conversation(p_conversation uuid, p_change text, p_user text) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_notify('letsswitch_conversations', concat_ws(
        ' ', p_conversation, p_change, coalesce(p_user, '-'),
        array_to_string(conversations.names_in(p_conversation), '.')))
$$;

-- Returns a user's conversations: all current ones, and at most 2,000 that the user has left. delete_left keeps about a
-- thousand left groups, so only left conversations of two can exceed this limit.
CREATE FUNCTION conversations.conversations_of(p_user bigint) RETURNS TABLE (conversation_id uuid, left_number bigint)
LANGUAGE sql STABLE AS $$
    SELECT inside.conversation_id, NULL::bigint FROM conversations.participant AS inside
    WHERE CASE WHEN inside.left_number IS NULL THEN inside.user_id END = p_user
    UNION ALL (
        SELECT gone.conversation_id, gone.left_number FROM conversations.participant AS gone
        WHERE CASE WHEN gone.left_number IS NOT NULL THEN gone.user_id END = p_user LIMIT 2000
    )
$$;

-- Whether a user is a participant of a conversation, or was a participant of one that is stored.
CREATE FUNCTION conversations.takes_part(p_user bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM conversations.conversations_of(p_user))
$$;

-- Whether a user is in at least p_most conversations that this user has created or written in. The caller has locked
-- the user's row, so the answer stays true until the end of the transaction.
CREATE FUNCTION conversations.is_full(p_user bigint, p_most integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT p_most <= (
        SELECT count(*) FROM (
            SELECT FROM conversations.participant AS own
            WHERE CASE WHEN own.left_number IS NULL THEN own.user_id END = p_user AND own.invited_by IS NULL
            LIMIT greatest(p_most, 0)
        ) AS counted
    )
$$;

-- Whether a user has created 50 groups in the last 30 days in which no other user has written. Groups that the user has
-- left count too. The caller has locked the user's row.
CREATE FUNCTION conversations.has_unanswered(p_user bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT 50 <= (
        SELECT count(*) FROM (
            SELECT FROM conversations.conversation AS own
            WHERE own.unanswered_by = p_user AND own.created_at > core.clock() - interval '30 days' LIMIT 50
        ) AS counted
    )
$$;

-- Makes a user leave these conversations. The caller has locked them.
CREATE FUNCTION conversations.leave_conversations(p_user bigint, p_conversations uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_name text := (SELECT own.name FROM conversations.chat_user AS own WHERE own.id = p_user);
    v_left uuid[];
BEGIN
    WITH gone AS (
        UPDATE conversations.participant AS own SET left_number = conversation.last_number
        FROM conversations.conversation
        WHERE conversation.id = ANY (p_conversations) AND own.conversation_id = conversation.id AND own.user_id = p_user
            AND own.left_number IS NULL
        RETURNING own.conversation_id
    )
    SELECT array_agg(gone.conversation_id) INTO v_left FROM gone;
    IF v_left IS NULL THEN
        RETURN;
    END IF;
    PERFORM conversations.notify_conversation(own.id, 'left', v_name) FROM unnest(v_left) AS own (id);
    PERFORM conversations.expire_left_groups(v_left);
    PERFORM conversations.delete_left(p_user, v_left);
END
$$;

-- Makes each of these users leave one conversation, if the user is in more than p_most conversations that this user
-- neither created nor wrote in. It is the least recently used conversation of the user who created most of these. A
-- user who creates many conversations therefore displaces only those. Locked conversations are skipped, so this
-- function never waits for a lock.
CREATE FUNCTION conversations.leave_excess(p_users bigint[], p_most integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_user bigint;
BEGIN
    FOR v_user IN
        SELECT invited.id FROM unnest(p_users) AS invited (id)
        WHERE p_most < (
            SELECT count(*) FROM (
                SELECT FROM conversations.participant AS own
                WHERE CASE WHEN own.left_number IS NULL THEN own.user_id END = invited.id AND own.invited_by IS NOT NULL
                LIMIT p_most + 1
            ) AS unanswered
        )
    LOOP
        PERFORM conversations.leave_conversations(v_user, ARRAY(
            SELECT held.id FROM conversations.participant AS own
            JOIN conversations.conversation AS held ON held.id = own.conversation_id
            WHERE CASE WHEN own.left_number IS NULL THEN own.user_id END = v_user AND own.invited_by = (
                SELECT most.invited_by FROM conversations.participant AS most
                WHERE CASE WHEN most.left_number IS NULL THEN most.user_id END = v_user AND most.invited_by IS NOT NULL
                GROUP BY most.invited_by ORDER BY count(*) DESC, most.invited_by LIMIT 1
            )
            ORDER BY held.used_at, held.id LIMIT 1 FOR UPDATE SKIP LOCKED
        ));
    END LOOP;
END
$$;

-- Finds the conversation of exactly these users, or creates it. Two users have only one conversation. For more users it
-- is, if p_finds is true, the oldest group of these users that no participant has left; otherwise it is the group with
-- the id p_id. If there is none, it is created with the id p_id. p_user creates it, the other users are invited, and it
-- counts against the quota of p_user. p_most is the limit of conversations that a user has created or written in.
--
-- Result codes: made, there, too_few, too_many, id_taken, no_such_user, blocked, too_many_conversations,
-- too_many_unanswered, conversations_full.
--
-- Locks, in this order everywhere: lock_erasing_shared, users by their ids, conversations by their ids, messages. A
-- block locks both users, so it comes either before the creation or after it.
CREATE FUNCTION conversations.open_conversation(
    p_id uuid, p_user bigint, p_members bigint[], p_finds boolean, p_most integer, p_has_space boolean
) RETURNS TABLE (code text, conversation_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_count integer := cardinality(p_members);
BEGIN
    IF v_count < 2 THEN
        code := 'too_few';
    ELSIF v_count > 64 OR 255 < (
        SELECT sum(length(own.name)) + v_count - 1 FROM conversations.chat_user AS own WHERE own.id = ANY (p_members)
    ) THEN
        code := 'too_many';
    END IF;
    -- The first attempt locks the users if it finds no conversation, and the second one looks again. While the users
    -- are locked, no other transaction creates a conversation with them, blocks one of them or erases one of them.
    FOR attempt IN 1..2 LOOP
        EXIT WHEN code IS NOT NULL;
        SELECT found.code, found.conversation_id INTO code, conversation_id
        FROM conversations.find_conversation(p_id, p_members, p_finds) AS found;
        IF code IS NOT NULL THEN
            EXIT;
        ELSIF attempt = 1 THEN
            PERFORM FROM conversations.chat_user AS own WHERE own.id = ANY (p_members) ORDER BY own.id FOR NO KEY UPDATE;
        ELSE
            code := conversations.creation_refusal(p_user, p_members, p_most, p_has_space);
            IF code IS NULL AND conversations.create_conversation(p_id, p_user, p_members, p_finds, p_most) THEN
                code := 'made';
                conversation_id := p_id;
            END IF;
        END IF;
    END LOOP;
    -- The id p_id belongs to another conversation.
    code := coalesce(code, 'id_taken');
    RETURN NEXT;
END
$$;

-- Returns the conversation of these users as described in open_conversation. Result codes: there, id_taken; NULL if
-- there is no such conversation.
CREATE FUNCTION conversations.find_conversation(
    p_id uuid, p_members bigint[], p_finds boolean, OUT code text, OUT conversation_id uuid
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_members bigint[];
BEGIN
    IF cardinality(p_members) = 2 THEN
        SELECT id INTO conversation_id FROM conversations.conversation WHERE members = p_members AND kind = 'person';
    ELSIF p_finds THEN
        SELECT id INTO conversation_id FROM conversations.conversation AS found
        WHERE found.members = p_members AND found.kind = 'group' AND NOT EXISTS (
            SELECT FROM conversations.participant AS gone
            WHERE gone.conversation_id = found.id AND gone.left_number IS NOT NULL
        )
        ORDER BY found.created_at LIMIT 1;
    ELSE
        SELECT id, members INTO conversation_id, v_members FROM conversations.conversation WHERE id = p_id;
    END IF;
    code := CASE WHEN v_members <> p_members THEN 'id_taken' WHEN conversation_id IS NOT NULL THEN 'there' END;
END
$$;

-- Returns why p_user can't create a conversation of these users: no_such_user, blocked, too_many_conversations,
-- too_many_unanswered or conversations_full. Returns NULL if p_user can. The caller has locked the users.
CREATE FUNCTION conversations.creation_refusal(p_user bigint, p_members bigint[], p_most integer, p_has_space boolean)
RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF cardinality(p_members) > (
        SELECT count(*) FROM conversations.chat_user AS own WHERE own.id = ANY (p_members) AND own.name IS NOT NULL
    ) THEN
        RETURN 'no_such_user';
    ELSIF conversations.is_blocked_among(p_members) THEN
        RETURN 'blocked';
    ELSIF conversations.is_full(p_user, p_most) THEN
        RETURN 'too_many_conversations';
    ELSIF cardinality(p_members) > 2 AND conversations.has_unanswered(p_user) THEN
        RETURN 'too_many_unanswered';
    ELSIF NOT p_has_space THEN
        RETURN 'conversations_full';
    END IF;
    RETURN NULL;
END
$$;

-- Creates a conversation of these users. p_user creates it, and the other users are invited. If p_finds is false, the
-- daemons are notified of it. Returns false if another conversation has the id p_id. The caller has locked the users.
CREATE FUNCTION conversations.create_conversation(
    p_id uuid, p_user bigint, p_members bigint[], p_finds boolean, p_most integer
) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_kind text := CASE WHEN cardinality(p_members) = 2 THEN 'person' ELSE 'group' END;
BEGIN
    INSERT INTO conversations.conversation (id, kind, members, created_at, used_at, checked_at, unanswered_by)
    VALUES (
        p_id, v_kind, p_members, core.clock(), core.clock(), core.clock(),
        CASE WHEN v_kind = 'group' THEN p_user END)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO conversations.participant (conversation_id, user_id, invited_by)
    SELECT p_id, member.id, CASE WHEN member.id <> p_user THEN p_user END FROM unnest(p_members) AS member (id);
    PERFORM conversations.leave_excess(array_remove(p_members, p_user), p_most);
    -- A conversation that is created for a message is announced with that message.
    IF NOT p_finds THEN
        PERFORM conversations.notify_conversation(p_id, 'made', NULL);
    END IF;
    RETURN true;
END
$$;

-- Returns a conversation as a user sees it: without messages after the user left, and without the content of erased
-- authors. The subqueries have limits for the reason that names_in gives.
CREATE FUNCTION conversations.conversation_for(p_user bigint, p_conversation uuid) RETURNS TABLE (
    conversation_id uuid, kind text, names text, last_number bigint, read_number bigint, is_muted boolean,
    number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        seen.id, seen.kind, array_to_string(conversations.names_in(seen.id), ','),
        coalesce(own.left_number, seen.last_number), own.read_number, own.is_muted,
        last.number, last.id, author.name,
        CASE WHEN author.name IS NOT NULL THEN last.content END, floor(extract(epoch FROM last.sent_at))::bigint
    FROM (SELECT * FROM conversations.conversation WHERE conversation.id = p_conversation LIMIT 1) AS seen
    CROSS JOIN LATERAL (
        SELECT * FROM conversations.participant
        WHERE participant.conversation_id = seen.id AND participant.user_id = p_user LIMIT 1
    ) AS own
    LEFT JOIN LATERAL (
        SELECT * FROM conversations.message
        WHERE message.conversation_id = seen.id AND message.number = coalesce(own.left_number, seen.last_number) LIMIT 1
    ) AS last ON true
    LEFT JOIN LATERAL (
        SELECT known.name FROM conversations.chat_user AS known WHERE known.id = last.author_id LIMIT 1
    ) AS author ON true
$$;

-- Brings p_user, and p_other unless it is NULL, back into their conversation of two (a pair), if they have left it. A
-- pair that p_user returns to counts against the quota of p_user. p_most is the limit of conversations that a user has
-- created or written in. A group isn't changed. Result codes: there, too_many_conversations.
CREATE FUNCTION conversations.rejoin_pair(p_conversation uuid, p_user bigint, p_other bigint, p_most integer) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_gone bigint[] := ARRAY(
        SELECT gone.user_id FROM conversations.participant AS gone
        JOIN conversations.conversation ON conversation.id = gone.conversation_id AND conversation.kind = 'person'
        WHERE gone.conversation_id = p_conversation AND gone.user_id IN (p_user, p_other) AND gone.left_number IS NOT NULL
    );
BEGIN
    IF v_gone = '{}' THEN
        RETURN 'there';
    END IF;
    PERFORM FROM conversations.chat_user AS own WHERE own.id = ANY (v_gone) ORDER BY own.id FOR NO KEY UPDATE;
    IF p_user = ANY (v_gone) AND conversations.is_full(p_user, p_most) THEN
        RETURN 'too_many_conversations';
    END IF;
    PERFORM FROM conversations.conversation AS held WHERE held.id = p_conversation FOR UPDATE;
    UPDATE conversations.participant AS gone
    SET left_number = NULL, invited_by = CASE WHEN gone.user_id <> p_user THEN p_user END
    WHERE gone.conversation_id = p_conversation AND gone.user_id = ANY (v_gone) AND gone.left_number IS NOT NULL;
    PERFORM conversations.leave_excess(array_remove(v_gone, p_user), p_most);
    PERFORM conversations.notify_conversation(p_conversation, 'returned', NULL);
    RETURN 'there';
END
$$;

-- Finds or creates a conversation with the users p_names. Result codes: made, there, name_required, no_such_user, and
-- the refusals of open_conversation.
CREATE FUNCTION conversations.make_conversation(
    p_device text, p_id uuid, p_names text[], p_most integer, p_has_space boolean
) RETURNS TABLE (
    code text, conversation_id uuid, kind text, names text, last_number bigint, read_number bigint, is_muted boolean,
    number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user bigint := (SELECT own.id FROM conversations.user_of(p_device) AS own);
    v_members bigint[] := conversations.members_named(v_user, p_names);
    v_conversation uuid;
BEGIN
    IF v_user IS NULL THEN
        code := 'name_required';
    ELSIF v_members IS NULL THEN
        code := 'no_such_user';
    ELSE
        SELECT opened.code, opened.conversation_id INTO code, v_conversation
        FROM conversations.open_conversation(p_id, v_user, v_members, false, p_most, p_has_space) AS opened;
    END IF;
    IF code = 'there' THEN
        code := conversations.rejoin_pair(v_conversation, v_user, NULL, p_most);
    END IF;
    IF code IN ('made', 'there') THEN
        RETURN QUERY SELECT code, made.* FROM conversations.conversation_for(v_user, v_conversation) AS made;
    ELSE
        RETURN NEXT;
    END IF;
END
$$;

-- Changes a participant's own state. p_action is 'read' (p_value is the last number read), 'mute' (p_value is 1 or 0)
-- or 'leave'. Result codes: done, no_such_conversation.
CREATE FUNCTION conversations.set_participant(p_device text, p_conversation uuid, p_action text, p_value bigint)
RETURNS TABLE (
    code text, conversation_id uuid, kind text, names text, last_number bigint, read_number bigint, is_muted boolean,
    number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user bigint := (SELECT own.id FROM conversations.user_of(p_device) AS own);
    v_last bigint;
BEGIN
    -- No message may be stored while the user leaves.
    IF p_action = 'leave' THEN
        PERFORM FROM conversations.conversation AS held WHERE held.id = p_conversation FOR UPDATE;
    END IF;
    SELECT shown.last_number INTO v_last FROM conversations.conversation_for(v_user, p_conversation) AS shown;
    IF NOT FOUND THEN
        code := 'no_such_conversation';
        RETURN NEXT;
        RETURN;
    END IF;
    IF p_action = 'leave' THEN
        PERFORM conversations.leave_conversations(v_user, ARRAY[p_conversation]);
    ELSE
        UPDATE conversations.participant AS own SET
            read_number = CASE WHEN p_action = 'read' THEN greatest(own.read_number, least(p_value, v_last))
                ELSE own.read_number END,
            is_muted = CASE WHEN p_action = 'mute' THEN p_value <> 0 ELSE own.is_muted END
        WHERE own.conversation_id = p_conversation AND own.user_id = v_user;
    END IF;
    RETURN QUERY SELECT 'done', changed.* FROM conversations.conversation_for(v_user, p_conversation) AS changed;
END
$$;

-- Deleting ---------------------------------------------------------------------------------------------------------

-- Marks those of these groups that all participants have left, so that delete_old deletes them: no user can return to
-- such a group. Locked groups are skipped: the transaction that holds the lock makes a user leave, too.
CREATE FUNCTION conversations.expire_left_groups(p_conversations uuid[]) RETURNS void
LANGUAGE sql AS $$
    UPDATE conversations.conversation SET checked_at = '-infinity' WHERE conversation.id = ANY (ARRAY(
        SELECT own.id FROM conversations.conversation AS own
        WHERE own.id = ANY (p_conversations) AND own.kind = 'group' AND NOT EXISTS (
            SELECT FROM conversations.participant AS inside
            WHERE inside.conversation_id = own.id AND inside.left_number IS NULL
        )
        FOR UPDATE SKIP LOCKED
    ))
$$;

-- Deletes a user's participation in left groups, except for the thousand that were used last. p_latest are the
-- conversations that the user has just left; they are kept. Pairs are kept too, because a message can continue them.
CREATE FUNCTION conversations.delete_left(p_user bigint, p_latest uuid[]) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM conversations.participant WHERE participant.ctid = ANY (ARRAY(
        SELECT gone.ctid FROM conversations.participant AS gone
        WHERE gone.user_id = p_user AND gone.left_number IS NOT NULL AND gone.conversation_id = ANY (ARRAY(
            SELECT conversation.id FROM conversations.conversations_of(p_user) AS own
            JOIN conversations.conversation ON conversation.id = own.conversation_id
            WHERE own.left_number IS NOT NULL AND conversation.kind = 'group' AND conversation.id <> ALL (p_latest)
            ORDER BY conversation.used_at DESC, conversation.id DESC
            OFFSET greatest(1000 - cardinality(p_latest), 0)
        ))
        FOR UPDATE SKIP LOCKED
    ))
$$;

-- Deletes erased users that take part in no stored conversation. Their names stay retired.
CREATE FUNCTION conversations.delete_users(p_users bigint[]) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM conversations.chat_user AS own
    WHERE own.id = ANY (p_users) AND own.name IS NULL AND own.device_id IS NULL
        AND NOT conversations.takes_part(own.id)
$$;
