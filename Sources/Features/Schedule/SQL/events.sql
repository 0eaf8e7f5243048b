-- The events of tasks and matches, for subscribers such as the webhook. Each event is written in the transaction that
-- makes it true.

-- Returns the two tasks of a match in the order that all events of the match use.
CREATE FUNCTION schedule.match_tasks(p_task uuid, p_partner uuid) RETURNS uuid[]
LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[least(p_task, p_partner), greatest(p_task, p_partner)] $$;

-- Writes an event about a task. The event task.cancelled has no title and no local time.
CREATE FUNCTION schedule.write_task_event(p_type text, p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_type = 'task.cancelled' THEN
        PERFORM core.write_event(
            p_type, p_task.device_id, ARRAY[p_task.id], p_task.room_id, p_task.starts_at);
    ELSE
        PERFORM core.write_event(
            p_type, p_task.device_id, ARRAY[p_task.id], p_task.room_id, p_task.starts_at, p_task.title,
            p_task.start_time, p_task.time_zone);
    END IF;
END
$$;

-- Writes the event of a new match. If p_is_open is true, the room is already open, so no claim will write the events of
-- the room. They are then written here.
CREATE FUNCTION schedule.write_match_event(p_task schedule.task, p_is_open boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM core.write_event(
        'match.created', NULL, ARRAY[p_task.partner_id, p_task.id], p_task.room_id, p_task.starts_at);
    IF NOT p_is_open OR NOT core.has_subscribers() THEN
        RETURN;
    END IF;
    -- A room that the match has taken over was opened before. Its waiting event of the end gets the new tasks.
    UPDATE core.event SET task_ids = schedule.match_tasks(p_task.id, p_task.partner_id)
    WHERE event.room_id = p_task.room_id AND event.type = 'room.closed' AND event.number IS NULL;
    IF FOUND THEN
        RETURN;
    END IF;
    WITH opened AS (
        INSERT INTO core.event (number, type, happened_at, task_ids, room_id, starts_at, closes_at)
        SELECT
            CASE WHEN entry.type = 'room.opened' THEN nextval('core.event_number') END, entry.type, entry.at,
            schedule.match_tasks(p_task.id, p_task.partner_id), p_task.room_id, p_task.starts_at, p_task.closes_at
        FROM (VALUES ('room.opened', core.clock()), ('room.closed', p_task.closes_at)) AS entry (type, at)
        ORDER BY entry.type DESC
        RETURNING event.id, event.type, event.happened_at
    )
    INSERT INTO core.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), opened.id, opened.happened_at, due.at, due.at + core.event_lifetime()
    FROM opened
    CROSS JOIN LATERAL (
        SELECT opened.happened_at + CASE opened.type WHEN 'room.closed' THEN interval '2 seconds' ELSE '0' END AS at
    ) AS due
    CROSS JOIN core.provider
    WHERE provider.subscribes AND provider.disabled_at IS NULL;
END
$$;

-- Reschedules the event of a room's end to now, because the room ends early.
CREATE FUNCTION schedule.write_dissolved_event(p_room uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_events bigint[];
BEGIN
    IF NOT core.has_subscribers() THEN
        RETURN;
    END IF;
    v_now := core.clock();
    WITH closed AS (
        UPDATE core.event SET happened_at = v_now
        WHERE event.room_id = p_room AND event.type = 'room.closed' AND event.number IS NULL AND event.happened_at > v_now
        RETURNING event.id
    )
    SELECT array_agg(closed.id) INTO v_events FROM closed;
    UPDATE core.delivery
    SET next_try_at = v_now + interval '2 seconds', deadline = v_now + interval '2 seconds' + core.event_lifetime()
    WHERE delivery.event_id = ANY (v_events);
END
$$;
