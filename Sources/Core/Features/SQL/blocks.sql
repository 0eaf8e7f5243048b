-- Blocks between devices. Matching, the day and conversations check them; the feature Conversations sets them.

-- Whether one of two devices has blocked the other.
CREATE FUNCTION core.is_blocked(p_device text, p_other text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM core.block WHERE device_id = p_device AND blocked_id = p_other)
        OR EXISTS (SELECT FROM core.block WHERE device_id = p_other AND blocked_id = p_device)
$$;

-- Deletes at most p_limit blocks that an erased device has set, or that other devices have set against it. Returns the
-- number of deleted blocks. If it is p_limit, more may be left.
CREATE FUNCTION core.delete_blocks(p_device text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM core.block WHERE block.id = ANY (ARRAY(
        SELECT own.id FROM (
            (SELECT mine.id FROM core.block AS mine WHERE mine.device_id = p_device LIMIT p_limit)
            UNION
            (SELECT theirs.id FROM core.block AS theirs WHERE theirs.blocked_id = p_device LIMIT p_limit)
        ) AS own LIMIT p_limit
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
