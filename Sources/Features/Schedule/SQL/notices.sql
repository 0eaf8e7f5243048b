-- Notifications by providers that a user's partner has changed. Their text is read from the task when they are sent.

-- Notifies a task's user that the partner has changed. The notification is useful until the start, or until the room
-- closes. The first one is sent at once. After that there is a pause of a minute, or of an eighth of the time until the
-- start if that is longer. Strangers therefore can't make a phone ring at will. A notification that already waits has
-- the state at the time when it is sent, so no second one is written.
CREATE FUNCTION schedule.notify_partner_changed(p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_at timestamptz := greatest(
        v_now, p_task.notified_at + greatest(interval '1 minute', (p_task.starts_at - v_now) / 8));
    v_providers text[];
BEGIN
    IF p_task.notified_at > v_now THEN
        RETURN;
    END IF;
    v_providers := core.addressed_providers();
    INSERT INTO core.delivery (channel, urgent, message_id, task_id, address_id, created_at, next_try_at, deadline)
    SELECT address.channel, false, gen_random_uuid(), p_task.id, address.id, v_now, v_at,
        CASE WHEN p_task.starts_at > v_at THEN p_task.starts_at ELSE p_task.closes_at END
    FROM core.address
    WHERE address.device_id = p_task.device_id AND address.channel = ANY (v_providers);
    IF FOUND THEN
        UPDATE schedule.task SET notified_at = v_at WHERE task.id = p_task.id;
        -- The workers sleep until the next delivery that they know.
        PERFORM pg_notify('letsswitch_deliveries', name) FROM unnest(v_providers) AS name;
    END IF;
END
$$;

-- Notifies the user of a task that waited for a late partner that a partner was found, unless the user is in the room.
-- p_task is the task before the change.
CREATE FUNCTION schedule.notify_partner_found(p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_task.partner_id IS NULL AND p_task.waits_until IS NOT NULL AND NOT schedule.is_room_occupied(p_task) THEN
        PERFORM schedule.notify_partner_changed(p_task);
    END IF;
END
$$;

-- Notifies the user of a claimed task that a partner was found, if the reminder named no partner and the user isn't in
-- the room. p_task is the task before the change.
CREATE FUNCTION schedule.notify_claimed(p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_task.waits_until IS NULL AND NOT schedule.is_due(p_task) AND NOT schedule.is_room_occupied(p_task) THEN
        PERFORM schedule.notify_partner_changed(p_task);
    END IF;
END
$$;
