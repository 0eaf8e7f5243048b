-- Reactions to messages. A change notifies letsswitch_conversations in its transaction with "<conversation> reaction
-- <user> <names> <number> <message> <added or removed> <emoji>". A daemon of an earlier build, without reactions,
-- ignores this payload.

-- Adds a user's reaction to a message, or removes it. A repeated request changes nothing and notifies no daemon. The
-- author of the message must not be erased.
--
-- Result codes: added, removed, repeated, name_required, no_such_conversation, no_such_message; for a new reaction also
-- blocked, messages_full, too_many_reactions.
--
-- Locks the user against erasure, then the message. Reactions to one message are therefore added one after the other,
-- so the limits are exact.
CREATE FUNCTION conversations.react(
    p_device text, p_conversation uuid, p_message uuid, p_emoji text, p_adds boolean, p_has_space boolean
) RETURNS TABLE (code text, conversation_id uuid, number bigint, id uuid, author text, content text, sent_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_user conversations.chat_user;
    v_conversation conversations.conversation;
    v_message conversations.message;
    v_author text;
BEGIN
    -- An erasure waits for this lock, so it also finds the reaction stored here. After the erasure no reaction is
    -- stored.
    SELECT * INTO v_user FROM conversations.chat_user AS own
    WHERE own.device_id = p_device AND own.name IS NOT NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        code := 'name_required';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_conversation FROM conversations.conversation AS known
    WHERE known.id = p_conversation AND EXISTS (
        SELECT FROM conversations.participant AS inside
        WHERE inside.conversation_id = p_conversation AND inside.user_id = v_user.id AND inside.left_number IS NULL
    );
    IF NOT FOUND THEN
        code := 'no_such_conversation';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT * INTO v_message FROM conversations.message AS stored
    WHERE stored.id = p_message AND stored.conversation_id = p_conversation AND stored.content IS NOT NULL FOR NO KEY UPDATE;
    v_author := (SELECT known.name FROM conversations.chat_user AS known WHERE known.id = v_message.author_id);
    IF v_author IS NULL THEN
        code := 'no_such_message';
        RETURN NEXT;
        RETURN;
    END IF;
    code := CASE
        WHEN p_adds THEN conversations.add_reaction(v_user.id, v_conversation, v_message.number, p_emoji, p_has_space)
        ELSE conversations.remove_reaction(v_user.id, p_conversation, v_message.number, p_emoji)
    END;
    IF code IN ('added', 'removed') THEN
        PERFORM pg_notify('letsswitch_conversations', concat_ws(
            ' ', p_conversation, 'reaction', v_user.name, array_to_string(conversations.names_in(p_conversation), '.'),
            v_message.number, p_message, code, p_emoji));
    END IF;
    conversation_id := p_conversation;
    number := v_message.number;
    id := p_message;
    author := v_author;
    content := v_message.content;
    sent_at := floor(extract(epoch FROM v_message.sent_at))::bigint;
    RETURN NEXT;
END
$$;

-- Adds a user's reaction to a message, which is locked. Result codes: added, repeated, blocked, messages_full,
-- too_many_reactions.
CREATE FUNCTION conversations.add_reaction(
    p_user bigint, p_conversation conversations.conversation, p_number bigint, p_emoji text, p_has_space boolean
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    -- The limit of reactions of one user to a message, and of different emoji on a message.
    c_own CONSTANT integer := 5;
    c_emoji CONSTANT integer := 20;
BEGIN
    IF EXISTS (
        SELECT FROM conversations.reaction AS own
        WHERE own.conversation_id = p_conversation.id AND own.number = p_number AND own.user_id = p_user
            AND own.emoji = p_emoji COLLATE "C"
    ) THEN
        RETURN 'repeated';
    ELSIF p_conversation.kind = 'person' AND conversations.is_blocked_among(p_conversation.members) THEN
        RETURN 'blocked';
    ELSIF NOT p_has_space THEN
        RETURN 'messages_full';
    ELSIF (
        SELECT count(*) FILTER (WHERE held.user_id = p_user) >= c_own
            OR count(DISTINCT held.emoji) FILTER (WHERE held.emoji <> p_emoji COLLATE "C") >= c_emoji
        FROM conversations.reaction AS held
        WHERE held.conversation_id = p_conversation.id AND held.number = p_number
    ) THEN
        RETURN 'too_many_reactions';
    END IF;
    INSERT INTO conversations.reaction (conversation_id, number, user_id, emoji, reacted_at)
    VALUES (p_conversation.id, p_number, p_user, p_emoji, core.clock());
    RETURN 'added';
END
$$;

-- Removes a user's reaction to a message, which is locked. Result codes: removed, repeated.
CREATE FUNCTION conversations.remove_reaction(p_user bigint, p_conversation uuid, p_number bigint, p_emoji text)
RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM conversations.reaction AS own
    WHERE own.conversation_id = p_conversation AND own.number = p_number AND own.user_id = p_user
        AND own.emoji = p_emoji COLLATE "C";
    RETURN CASE WHEN FOUND THEN 'removed' ELSE 'repeated' END;
END
$$;

-- Returns the reactions to these messages of a conversation, by message and emoji. The emoji that was used first comes
-- first. `names` has the first p_names users, separated by dots. `count` is the number of all users. Erased users don't
-- count.
CREATE FUNCTION conversations.reactions_of(p_conversation uuid, p_numbers bigint[], p_names integer)
RETURNS TABLE (number bigint, emoji text, count bigint, names text)
LANGUAGE sql STABLE AS $$
    SELECT
        shown.number, shown.emoji, count(*),
        array_to_string((array_agg(shown.name ORDER BY shown.reacted_at, shown.name))[1:p_names], '.')
    FROM (
        SELECT held.number, held.emoji, held.reacted_at, own.name
        FROM unnest(p_numbers) AS wanted (number)
        CROSS JOIN LATERAL (
            SELECT * FROM conversations.reaction
            WHERE reaction.conversation_id = p_conversation AND reaction.number = wanted.number
            OFFSET 0
        ) AS held
        CROSS JOIN LATERAL (
            SELECT known.name FROM conversations.chat_user AS known WHERE known.id = held.user_id LIMIT 1
        ) AS own
        WHERE own.name IS NOT NULL
    ) AS shown
    GROUP BY shown.number, shown.emoji
    ORDER BY shown.number, min(shown.reacted_at), shown.emoji
$$;
