-- Blocks between users.

-- Blocks a user: by the name p_name, which only a device with a name can do, or as the partner in the device's own task
-- p_task. The device leaves the groups that the blocked user created and in which the device hasn't written. p_most is
-- the limit of blocks of a device.
--
-- Result codes: blocked, repeated, name_required, no_such_user, no_such_task, no_partner, too_many_blocks, blocks_full.
--
-- Locks in this order: lock_erasing_shared of both devices, lock_device, both users, conversations by their ids.
CREATE FUNCTION conversations.add_block(p_device text, p_name text, p_task uuid, p_most integer, p_has_space boolean)
RETURNS TABLE (code text, id uuid, name text, title text, starts_at bigint, blocked_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_other text := conversations.resolve_device(p_device, p_name, p_task);
    v_id uuid;
    v_title text;
    v_starts_at timestamptz;
BEGIN
    -- Delays the erasure of either device, because the block would remain after it.
    PERFORM core.lock_erasing_shared(p_device);
    PERFORM core.lock_erasing_shared(v_other);
    PERFORM core.lock_device(p_device);
    -- Until the end of the transaction no conversation with both users is created, and neither name is deleted.
    PERFORM FROM conversations.chat_user AS own
    WHERE own.device_id IN (p_device, v_other) AND own.name IS NOT NULL ORDER BY own.id FOR NO KEY UPDATE;
    IF p_name IS NOT NULL AND NOT EXISTS (SELECT FROM conversations.user_of(p_device)) THEN
        code := 'name_required';
    ELSIF p_name IS NULL AND NOT schedule.has_task(p_device, p_task) THEN
        code := 'no_such_task';
    ELSIF v_other IS NULL OR v_other = p_device OR v_other <> coalesce(conversations.resolve_device(p_device, p_name, p_task), '')
    THEN
        code := CASE WHEN p_name IS NULL THEN 'no_partner' ELSE 'no_such_user' END;
    ELSE
        SELECT own.id INTO v_id FROM core.block AS own
        WHERE own.device_id = p_device AND own.blocked_id = v_other AND (own.name IS NULL) = (p_name IS NULL);
        IF FOUND THEN
            code := 'repeated';
        ELSIF p_name IS NULL THEN
            -- The list shows the block by the partner's task. This query fails if one of the two has left the match
            -- since then.
            SELECT partner.title, partner.starts_at INTO v_title, v_starts_at FROM schedule.partner_of(p_device, p_task) AS partner WHERE partner.device_id = v_other;
            IF NOT FOUND THEN
                code := 'no_partner';
            END IF;
        END IF;
    END IF;
    IF code IS NULL THEN
        IF p_most <= (SELECT count(*) FROM core.block AS own WHERE own.device_id = p_device) THEN
            code := 'too_many_blocks';
        ELSIF NOT p_has_space THEN
            code := 'blocks_full';
        ELSE
            INSERT INTO core.block (id, device_id, blocked_id, name, title, starts_at, blocked_at, used_at)
            VALUES (
                gen_random_uuid(), p_device, v_other, p_name, v_title, v_starts_at, core.clock(), core.clock())
            RETURNING block.id INTO v_id;
            code := 'blocked';
        END IF;
    END IF;
    IF v_id IS NULL THEN
        RETURN NEXT;
    ELSE
        PERFORM conversations.leave_groups_of(p_device, v_other);
        RETURN QUERY SELECT code, shown.* FROM conversations.block_shown(v_id) AS shown;
    END IF;
END
$$;

-- Makes a device leave the groups that another device created and in which it hasn't written. The caller has locked
-- both users.
CREATE FUNCTION conversations.leave_groups_of(p_device text, p_other text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_user bigint := (SELECT own.id FROM conversations.user_of(p_device) AS own);
    v_other bigint := (SELECT own.id FROM conversations.user_of(p_other) AS own);
BEGIN
    PERFORM conversations.leave_conversations(v_user, ARRAY(
        SELECT held.id FROM conversations.conversation AS held
        WHERE held.kind = 'group' AND held.id = ANY (ARRAY(
            SELECT own.conversation_id FROM conversations.participant AS own
            WHERE CASE WHEN own.left_number IS NULL THEN own.user_id END = v_user AND own.invited_by = v_other
        ))
        ORDER BY held.id FOR UPDATE
    ));
END
$$;

-- Returns the device with this name, or the partner's device in the device's own task if p_name is NULL. Returns NULL
-- if there is none.
CREATE FUNCTION conversations.resolve_device(p_device text, p_name text, p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_name IS NULL THEN schedule.partner_device(p_device, p_task) ELSE (
        SELECT own.device_id FROM conversations.chat_user AS own WHERE own.name = p_name COLLATE "C"
    ) END
$$;

-- Returns a block in the form that clients receive.
CREATE FUNCTION conversations.block_shown(p_id uuid)
RETURNS TABLE (id uuid, name text, title text, starts_at bigint, blocked_at bigint)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        block.id, block.name, block.title, extract(epoch FROM block.starts_at)::bigint,
        floor(extract(epoch FROM block.blocked_at))::bigint
    FROM core.block WHERE block.id = p_id
$$;

-- Removes a block of a device. If no block between the two is left, matches them in the slots in which both wait.
-- Returns the device that was blocked, or NULL if the block didn't exist.
CREATE FUNCTION conversations.remove_block(p_device text, p_id uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_other text := (SELECT block.blocked_id FROM core.block WHERE block.id = p_id AND block.device_id = p_device);
    v_slots timestamptz[];
BEGIN
    IF v_other IS NULL THEN
        RETURN NULL;
    END IF;
    v_slots := schedule.lock_waiting_starts(p_device, v_other);
    DELETE FROM core.block WHERE block.id = p_id AND block.device_id = p_device;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF NOT core.is_blocked(p_device, v_other) THEN
        PERFORM schedule.match_unblocked(p_device, v_other, v_slots);
    END IF;
    RETURN v_other;
END
$$;

-- Matches two devices in the slots in which both wait, after remove_block is committed. Both may have registered for a
-- slot while the block was being removed: neither waited yet when remove_block looked, and both still saw the block. A
-- committed task is visible here. The lock of its slot waits for the other task if that isn't committed yet.
CREATE FUNCTION conversations.match_after_block(p_device text, p_other text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_slots timestamptz[] := schedule.lock_waiting_starts(p_device, p_other);
BEGIN
    IF NOT core.is_blocked(p_device, p_other) THEN
        PERFORM schedule.match_unblocked(p_device, p_other, v_slots);
    END IF;
END
$$;

-- Returns a device's blocks, the latest first. If p_before is given, the list begins after that block.
CREATE FUNCTION conversations.list_blocks(p_device text, p_before uuid, p_limit integer)
RETURNS TABLE (id uuid, name text, title text, starts_at bigint, blocked_at bigint)
LANGUAGE sql STABLE AS $$
    SELECT shown.* FROM (
        SELECT own.id, own.blocked_at FROM core.block AS own
        LEFT JOIN core.block AS last ON last.id = p_before AND last.device_id = p_device
        WHERE own.device_id = p_device
            AND (last.id IS NULL OR (own.blocked_at, own.id) < (last.blocked_at, last.id))
        ORDER BY own.blocked_at DESC, own.id DESC LIMIT p_limit
    ) AS own
    CROSS JOIN LATERAL conversations.block_shown(own.id) AS shown
    ORDER BY own.blocked_at DESC, own.id DESC
$$;
