-- Conversations of partners. A conversation is opened when both partners have asked for it.

-- Asks the partner in the device's own task for a conversation. If p_asks is false, only reads the state. When both
-- partners have asked, their conversation is found, or created with the id p_id. p_most is the limit of conversations
-- that a user has created or written in. partner_device is the device to notify; it is never shown to a client.
--
-- Result codes: asked, partner_asked, nobody_asked, made, there; no_such_task, no_partner, name_required, blocked, and
-- the refusals of open_conversation.
CREATE FUNCTION conversations.ask_partner(
    p_device text, p_task uuid, p_asks boolean, p_id uuid, p_most integer, p_has_space boolean
) RETURNS TABLE (
    code text, partner_device text, starts_at bigint, conversation_id uuid, kind text, names text, last_number bigint,
    read_number bigint, is_muted boolean, number bigint, id uuid, author text, content text, sent_at bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_asking record;
    v_user bigint;
    v_other bigint;
    v_conversation uuid;
BEGIN
    -- Delays the erasure of the device. After it the task is gone, and the device can't ask any more.
    PERFORM core.lock_erasing_shared(p_device);
    SELECT * INTO v_asking FROM schedule.asking_of(p_device, p_task) AS asking;
    IF NOT FOUND THEN
        code := 'no_such_task';
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT own.id INTO v_user FROM conversations.user_of(p_device) AS own;
    IF v_asking.partner_device IS NULL THEN
        code := 'no_partner';
    ELSIF v_user IS NULL AND p_asks THEN
        code := 'name_required';
    ELSIF p_asks AND core.is_blocked(p_device, v_asking.partner_device) THEN
        code := 'blocked';
    ELSIF p_asks AND NOT v_asking.has_asked THEN
        PERFORM schedule.ask_partner(p_task);
        v_asking.has_asked := true;
    END IF;
    IF code IS NULL THEN
        partner_device := v_asking.partner_device;
        starts_at := extract(epoch FROM v_asking.starts_at);
        SELECT own.id INTO v_other FROM conversations.user_of(partner_device) AS own;
        code := CASE
            -- If the partner's name was erased, the partner's request no longer counts.
            WHEN v_asking.partner_has_asked AND v_other IS NOT NULL THEN
                CASE WHEN v_asking.has_asked THEN 'both' ELSE 'partner_asked' END
            WHEN v_asking.has_asked THEN 'asked'
            ELSE 'nobody_asked'
        END;
    END IF;
    IF code = 'both' THEN
        SELECT opened.code, opened.conversation_id INTO code, v_conversation
        FROM conversations.open_pair(p_asks, p_id, v_user, v_other, p_most, p_has_space) AS opened;
    END IF;
    IF code IN ('made', 'there') THEN
        RETURN QUERY
        SELECT code, partner_device, starts_at, shown.*
        FROM conversations.conversation_for(v_user, v_conversation) AS shown;
    ELSE
        RETURN NEXT;
    END IF;
END
$$;

-- Finds the conversation of two users who have both asked for it. If p_asks is true, it is created with the id p_id if
-- it doesn't exist, and users who have left it come back. p_most is that of ask_partner. Result codes: made, there,
-- partner_asked (there is no conversation, and p_asks is false), and the refusals of open_conversation.
CREATE FUNCTION conversations.open_pair(
    p_asks boolean, p_id uuid, p_user bigint, p_other bigint, p_most integer, p_has_space boolean,
    OUT code text, OUT conversation_id uuid
)
LANGUAGE plpgsql AS $$
DECLARE
    v_members bigint[] := ARRAY[least(p_user, p_other), greatest(p_user, p_other)];
BEGIN
    IF NOT p_asks THEN
        SELECT own.id INTO conversation_id FROM conversations.conversation AS own
        WHERE own.kind = 'person' AND own.members = v_members;
        code := CASE WHEN FOUND THEN 'there' ELSE 'partner_asked' END;
        RETURN;
    END IF;
    SELECT opened.code, opened.conversation_id INTO code, conversation_id
    FROM conversations.open_conversation(p_id, p_user, v_members, false, p_most, p_has_space) AS opened;
    IF code = 'there' THEN
        code := conversations.rejoin_pair(conversation_id, p_user, p_other, p_most);
    END IF;
END
$$;
