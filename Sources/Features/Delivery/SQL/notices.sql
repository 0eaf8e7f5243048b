-- Told by the ways of reminders: that somebody who was counted on has left or moved, and that there is somebody else. What is sent is read
-- from the task as it is sent.

-- Tells whoever has this task that the partner has changed; while that is worth something: until the start, or as long as the room is open.
-- At once, but then once a minute at the most, and the further off the start, the more rarely, so that an eighth of what is left passes:
-- strangers who come and leave must not ring a telephone as often as they like. What waits tells of all that is so by then.
CREATE FUNCTION letsswitch.notify_partner_changed(p_task letsswitch.task) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_at timestamptz := greatest(
        v_now, p_task.noticed_at + greatest(interval '1 minute', (p_task.starts_at - v_now) / 8));
    v_providers text[];
BEGIN
    IF p_task.noticed_at > v_now THEN
        RETURN;
    END IF;
    v_providers := letsswitch.addressed_providers();
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, task_id, address_id, created_at, next_try_at, deadline)
    SELECT address.channel, false, gen_random_uuid(), p_task.id, address.id, v_now, v_at,
        CASE WHEN p_task.starts_at > v_at THEN p_task.starts_at ELSE p_task.closes_at END
    FROM letsswitch.address
    WHERE address.device_id = p_task.device_id AND address.channel = ANY (v_providers);
    IF FOUND THEN
        UPDATE letsswitch.task SET noticed_at = v_at WHERE task.id = p_task.id;
        -- Who serves them sleeps until the earliest that it knows.
        PERFORM pg_notify('letsswitch_deliveries', name) FROM unnest(v_providers) AS name;
    END IF;
END
$$;

-- The same to somebody who was let down, is in no room, and has a partner now. The task is as it was before.
CREATE FUNCTION letsswitch.notify_found(p_task letsswitch.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_task.partner_id IS NULL AND p_task.waits_until IS NOT NULL AND NOT letsswitch.is_room_occupied(p_task) THEN
        PERFORM letsswitch.notify_partner_changed(p_task);
    END IF;
END
$$;

-- The same to somebody whose reminder told of nobody, who is in no room, and has a partner now. The task is as it was before.
CREATE FUNCTION letsswitch.notify_claimed(p_task letsswitch.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_task.waits_until IS NULL AND NOT letsswitch.is_due(p_task) AND NOT letsswitch.is_room_occupied(p_task) THEN
        PERFORM letsswitch.notify_partner_changed(p_task);
    END IF;
END
$$;

-- The day of a start as somebody may read it, `Wed 25 Nov`; NULL if it is today there, or the zone isn't known any more.
CREATE FUNCTION letsswitch.start_day_text(p_starts_at timestamptz, p_zone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_rules text := letsswitch.stored_zone_rules(p_zone);
    v_start timestamp := p_starts_at AT TIME ZONE v_rules;
BEGIN
    RETURN CASE WHEN v_start::date <> (letsswitch.clock() AT TIME ZONE v_rules)::date THEN to_char(v_start, 'FMDy FMDD Mon') END;
END
$$;
