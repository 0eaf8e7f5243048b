-- The erasure of a device's data in conversations.

-- Retires a device's name, and makes it leave its conversations. Returns false, because no event is about a name.
CREATE FUNCTION conversations.begin_erasing(p_device text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM conversations.retire_user(p_device);
    RETURN false;
END
$$;

-- Deletes at most p_limit messages and reactions of a device that is being erased. Returns whether none are left.
CREATE FUNCTION conversations.erase_rows(p_device text, p_limit integer) RETURNS boolean
LANGUAGE sql AS $$ SELECT conversations.empty_messages(p_device, p_limit) < p_limit $$;

-- Retires a device's name permanently, and makes the device leave its conversations. empty_messages deletes its
-- messages and reactions.
CREATE FUNCTION conversations.retire_user(p_device text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_user conversations.chat_user;
    v_left uuid[];
BEGIN
    SELECT * INTO v_user FROM conversations.chat_user WHERE device_id = p_device AND name IS NOT NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO conversations.retired_name (digest) VALUES (conversations.name_digest(v_user.name)) ON CONFLICT DO NOTHING;
    UPDATE conversations.chat_user SET name = NULL WHERE id = v_user.id;
    -- In the order in which messages lock these rows.
    PERFORM FROM conversations.participant AS own
    WHERE CASE WHEN own.left_number IS NULL THEN own.user_id END = v_user.id ORDER BY own.conversation_id FOR UPDATE;
    WITH gone AS (
        UPDATE conversations.participant AS own SET left_number = conversation.last_number
        FROM conversations.conversation
        WHERE CASE WHEN own.left_number IS NULL THEN own.user_id END = v_user.id AND conversation.id = own.conversation_id
        RETURNING own.conversation_id
    )
    SELECT array_agg(gone.conversation_id) INTO v_left FROM gone;
    PERFORM conversations.notify_conversation(own.id, 'left', v_user.name) FROM unnest(v_left) AS own (id);
    PERFORM conversations.expire_left_groups(v_left);
END
$$;

-- Deletes the content of an erased device's messages, and its reactions, at most p_limit rows in all. The messages keep
-- their numbers. Returns the number of rows. If it is p_limit, more may be left.
CREATE FUNCTION conversations.empty_messages(p_device text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_user bigint;
    v_count bigint := 0;
    v_taken bigint;
BEGIN
    LOOP
        SELECT id INTO v_user FROM conversations.chat_user WHERE device_id = p_device AND name IS NULL LIMIT 1;
        EXIT WHEN NOT FOUND OR v_count >= p_limit;
        v_count := v_count + conversations.delete_reactions(v_user, (p_limit - v_count)::integer);
        UPDATE conversations.message SET author_id = NULL, content = NULL WHERE message.ctid = ANY (ARRAY(
            SELECT stored.ctid FROM conversations.message AS stored WHERE stored.author_id = v_user LIMIT p_limit - v_count FOR UPDATE
        ));
        GET DIAGNOSTICS v_taken = ROW_COUNT;
        v_count := v_count + v_taken;
        IF v_count < p_limit THEN
            UPDATE conversations.chat_user SET device_id = NULL WHERE id = v_user;
            PERFORM conversations.delete_users(ARRAY[v_user]);
        END IF;
    END LOOP;
    RETURN v_count;
END
$$;

-- Deletes at most p_limit reactions of a user who is being erased. Returns the number of deleted reactions. Reactions
-- that another transaction is deleting with their messages are skipped, so this function never waits for a lock.
CREATE FUNCTION conversations.delete_reactions(p_user bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM conversations.reaction WHERE reaction.ctid = ANY (ARRAY(
        SELECT own.ctid FROM conversations.reaction AS own
        WHERE own.user_id = p_user LIMIT p_limit FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
