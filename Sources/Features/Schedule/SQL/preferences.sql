-- Preferred former partners. If several tasks wait, the task of a preferred user comes first. A block takes precedence.

-- Returns how many of two devices prefer the other: 0, 1 or 2.
CREATE FUNCTION schedule.preferences_between(p_device text, p_other text) RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM schedule.preference WHERE device_id = p_device AND preferred_id = p_other)::integer
        + EXISTS (SELECT FROM schedule.preference WHERE device_id = p_other AND preferred_id = p_device)::integer
$$;

-- Stores a preference for the partner in one of the device's own tasks. p_most is the limit of preferences of a device.
-- Result codes: preferred, repeated, no_such_task, no_partner, too_many_preferences, preferences_full.
CREATE FUNCTION schedule.prefer_partner(p_device text, p_task uuid, p_most integer, p_has_space boolean)
RETURNS TABLE (code text, id uuid, title text, starts_at bigint, preferred_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_other text := schedule.partner_device(p_device, p_task);
    v_partner record;
    v_id uuid;
BEGIN
    -- Delays the erasure of either device. Otherwise a row that names an erased device would remain.
    PERFORM core.lock_erasing_shared(p_device);
    PERFORM core.lock_erasing_shared(v_other);
    PERFORM core.lock_device(p_device);
    IF NOT schedule.has_task(p_device, p_task) THEN
        code := 'no_such_task';
    ELSIF v_other IS NULL OR v_other <> coalesce(schedule.partner_device(p_device, p_task), '') THEN
        code := 'no_partner';
    ELSE
        SELECT own.id INTO v_id FROM schedule.preference AS own
        WHERE own.device_id = p_device AND own.preferred_id = v_other;
        code := 'repeated';
    END IF;
    IF code = 'repeated' AND v_id IS NULL THEN
        -- Reads the task of the same partner, because the partner may have left since then.
        SELECT * INTO v_partner FROM schedule.partner_of(p_device, p_task) AS partner WHERE partner.device_id = v_other;
        IF NOT FOUND THEN
            code := 'no_partner';
        ELSIF p_most <= (SELECT count(*) FROM schedule.preference AS own WHERE own.device_id = p_device) THEN
            code := 'too_many_preferences';
        ELSIF NOT p_has_space THEN
            code := 'preferences_full';
        ELSE
            INSERT INTO schedule.preference (id, device_id, preferred_id, title, starts_at, preferred_at, used_at)
            VALUES (
                gen_random_uuid(), p_device, v_other, v_partner.title, v_partner.starts_at, core.clock(), core.clock())
            RETURNING preference.id INTO v_id;
            code := 'preferred';
        END IF;
    END IF;
    IF v_id IS NULL THEN
        RETURN NEXT;
    ELSE
        RETURN QUERY SELECT code, shown.* FROM schedule.preference_shown(v_id) AS shown;
    END IF;
END
$$;

-- Returns a preference in the form that clients receive.
CREATE FUNCTION schedule.preference_shown(p_id uuid)
RETURNS TABLE (id uuid, title text, starts_at bigint, preferred_at bigint)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        preference.id, preference.title, extract(epoch FROM preference.starts_at)::bigint,
        floor(extract(epoch FROM preference.preferred_at))::bigint
    FROM schedule.preference WHERE preference.id = p_id
$$;

-- Deletes a preference of a device. Returns whether the device had it.
CREATE FUNCTION schedule.remove_preference(p_device text, p_id uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM schedule.preference WHERE preference.id = p_id AND preference.device_id = p_device;
    RETURN FOUND;
END
$$;

-- Returns a device's preferences, the latest first. If p_before is given, the list begins after that preference.
CREATE FUNCTION schedule.list_preferences(p_device text, p_before uuid, p_limit integer)
RETURNS TABLE (id uuid, title text, starts_at bigint, preferred_at bigint)
LANGUAGE sql STABLE AS $$
    SELECT shown.* FROM (
        SELECT own.id, own.preferred_at FROM schedule.preference AS own
        LEFT JOIN schedule.preference AS last ON last.id = p_before AND last.device_id = p_device
        WHERE own.device_id = p_device
            AND (last.id IS NULL OR (own.preferred_at, own.id) < (last.preferred_at, last.id))
        ORDER BY own.preferred_at DESC, own.id DESC LIMIT p_limit
    ) AS own
    CROSS JOIN LATERAL schedule.preference_shown(own.id) AS shown
    ORDER BY own.preferred_at DESC, own.id DESC
$$;
