-- Preferred former partners. Among several waiting tasks a preferred user's comes first; a block takes precedence.

-- How many of two devices prefer the other.
CREATE FUNCTION letsswitch.preferences_between(p_device text, p_other text) RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM letsswitch.preference WHERE device_id = p_device AND preferred_id = p_other)::integer
        + EXISTS (SELECT FROM letsswitch.preference WHERE device_id = p_other AND preferred_id = p_device)::integer
$$;

-- The partner's device in a device's own task; NULL without a partner, or if the partner was erased.
CREATE FUNCTION letsswitch.partner_device(p_device text, p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT partner.device_id FROM letsswitch.task AS own
    JOIN letsswitch.visible_task AS partner ON partner.id = own.partner_id
    WHERE own.id = p_task AND own.device_id = p_device
$$;

-- Prefers the partner in one of the device's own tasks. Code: preferred, repeated, no_such_task, no_partner, too_many_preferences (p_most),
-- preferences_full.
CREATE FUNCTION letsswitch.prefer_partner(p_device text, p_task uuid, p_most integer, p_has_space boolean)
RETURNS TABLE (code text, id uuid, title text, starts_at bigint, preferred_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_other text := letsswitch.partner_device(p_device, p_task);
    v_partner letsswitch.task;
    v_id uuid;
BEGIN
    -- Prevents an erasure meanwhile; otherwise a row that names the device would remain.
    PERFORM letsswitch.lock_erasing_shared(p_device);
    PERFORM letsswitch.lock_erasing_shared(v_other);
    PERFORM letsswitch.lock_device(p_device);
    IF NOT EXISTS (
        SELECT FROM letsswitch.visible_task AS own WHERE own.id = p_task AND own.device_id = p_device
    ) THEN
        code := 'no_such_task';
    ELSIF v_other IS NULL OR v_other <> coalesce(letsswitch.partner_device(p_device, p_task), '') THEN
        code := 'no_partner';
    ELSE
        SELECT own.id INTO v_id FROM letsswitch.preference AS own
        WHERE own.device_id = p_device AND own.preferred_id = v_other;
        code := 'repeated';
    END IF;
    IF code = 'repeated' AND v_id IS NULL THEN
        -- The title is the found partner's, who may leave at any moment.
        SELECT partner.* INTO v_partner FROM letsswitch.task AS own
        JOIN letsswitch.task AS partner ON partner.id = own.partner_id
        WHERE own.id = p_task AND partner.device_id = v_other;
        IF v_partner.id IS NULL THEN
            code := 'no_partner';
        ELSIF p_most <= (SELECT count(*) FROM letsswitch.preference AS own WHERE own.device_id = p_device) THEN
            code := 'too_many_preferences';
        ELSIF NOT p_has_space THEN
            code := 'preferences_full';
        ELSE
            INSERT INTO letsswitch.preference (id, device_id, preferred_id, title, starts_at, preferred_at, used_at)
            VALUES (
                gen_random_uuid(), p_device, v_other, v_partner.title, v_partner.starts_at, letsswitch.clock(), letsswitch.clock())
            RETURNING preference.id INTO v_id;
            code := 'preferred';
        END IF;
    END IF;
    IF v_id IS NULL THEN
        RETURN NEXT;
    ELSE
        RETURN QUERY SELECT code, shown.* FROM letsswitch.preference_shown(v_id) AS shown;
    END IF;
END
$$;

CREATE FUNCTION letsswitch.preference_shown(p_id uuid)
RETURNS TABLE (id uuid, title text, starts_at bigint, preferred_at bigint)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        preference.id, preference.title, extract(epoch FROM preference.starts_at)::bigint,
        floor(extract(epoch FROM preference.preferred_at))::bigint
    FROM letsswitch.preference WHERE preference.id = p_id
$$;

-- Undoes one. Whether there was one.
CREATE FUNCTION letsswitch.remove_preference(p_device text, p_id uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM letsswitch.preference WHERE preference.id = p_id AND preference.device_id = p_device;
    RETURN FOUND;
END
$$;

-- The devices that a device prefers, the latest first, after p_before if it is given.
CREATE FUNCTION letsswitch.list_preferences(p_device text, p_before uuid, p_limit integer)
RETURNS TABLE (id uuid, title text, starts_at bigint, preferred_at bigint)
LANGUAGE sql STABLE AS $$
    SELECT shown.* FROM (
        SELECT own.id, own.preferred_at FROM letsswitch.preference AS own
        LEFT JOIN letsswitch.preference AS last ON last.id = p_before AND last.device_id = p_device
        WHERE own.device_id = p_device
            AND (last.id IS NULL OR (own.preferred_at, own.id) < (last.preferred_at, last.id))
        ORDER BY own.preferred_at DESC, own.id DESC LIMIT p_limit
    ) AS own
    CROSS JOIN LATERAL letsswitch.preference_shown(own.id) AS shown
    ORDER BY own.preferred_at DESC, own.id DESC
$$;

-- Deletes an erased device's preferences, and others' preferences for it; p_limit at a time. Returns how many.
CREATE FUNCTION letsswitch.delete_preferences(p_device text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM letsswitch.preference WHERE preference.id = ANY (ARRAY(
        SELECT own.id FROM (
            (SELECT mine.id FROM letsswitch.preference AS mine WHERE mine.device_id = p_device LIMIT p_limit)
            UNION
            (SELECT theirs.id FROM letsswitch.preference AS theirs WHERE theirs.preferred_id = p_device LIMIT p_limit)
        ) AS own LIMIT p_limit
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
