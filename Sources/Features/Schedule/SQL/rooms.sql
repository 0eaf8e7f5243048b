-- The rooms of matches: their states, and their early ends.

-- The tasks whose users may be in a match's room, including erased users.
CREATE VIEW schedule.room_task AS
SELECT task.room_id, task.id, task.closes_at, task.device_id IS NULL AS is_erased
FROM schedule.task WHERE task.partner_id IS NOT NULL OR task.waits_until IS NOT NULL;

-- Returns the state of a match's room: open, not_open (opens_at has the time), closed or unknown. Instants are epoch
-- seconds.
CREATE FUNCTION schedule.find_room(
    p_room uuid,
    OUT state text, OUT opens_at double precision, OUT closes_at double precision, OUT now double precision
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
    v_room record;
BEGIN
    now := extract(epoch FROM v_now);
    SELECT
        count(coalesce(task.partner_id, CASE WHEN task.waits_until IS NOT NULL THEN task.id END)) > 0 AS is_paired,
        min(task.reminds_at) AS opens_at,
        max(task.closes_at) AS closes_at,
        count(due.task_id) < count(*) AS is_claimed
    INTO v_room
    FROM schedule.visible_task AS task
    LEFT JOIN schedule.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
    WHERE task.room_id = p_room AND (task.device_id IS NOT NULL OR task.partner_id IS NOT NULL);
    state := CASE
        -- A task without a partner has a room only until its reminder. Afterwards it has one if its partner left,
        -- because its user may wait there.
        WHEN NOT v_room.is_paired AND (v_room.is_claimed OR v_room.opens_at <= v_now) THEN 'unknown'
        WHEN v_room.closes_at <= v_now THEN 'closed'
        WHEN v_room.is_claimed THEN 'open'
        WHEN v_room.opens_at IS NOT NULL THEN 'not_open'
        ELSE 'unknown'
    END;
    IF state <> 'unknown' THEN
        opens_at := extract(epoch FROM v_room.opens_at);
        closes_at := extract(epoch FROM v_room.closes_at);
    END IF;
END
$$;

-- Closes an open room for all members. Returns the state that `find_room` had before. If the room is closed or unknown,
-- daemons that still have it open for another reason close it. A room that isn't open yet stays as it is. Locks the
-- tasks of the room in order of registration.
CREATE FUNCTION schedule.close_room(p_room uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
BEGIN
    PERFORM FROM schedule.task WHERE task.room_id = p_room ORDER BY task.registered FOR UPDATE;
    v_state := (SELECT found.state FROM schedule.find_room(p_room) AS found);
    CASE v_state
        WHEN 'open' THEN
            UPDATE schedule.task SET closes_at = core.clock() WHERE task.room_id = p_room;
            PERFORM schedule.dissolve_room(p_room);
        WHEN 'not_open' THEN
            NULL;
        ELSE
            PERFORM pg_notify('letsswitch_dissolved', p_room::text);
    END CASE;
    RETURN v_state;
END
$$;

-- Ends a room early: reschedules the event of its end, and notifies daemons that have the room open to close it.
CREATE FUNCTION schedule.dissolve_room(p_room uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM schedule.write_dissolved_event(p_room);
    PERFORM pg_notify('letsswitch_dissolved', p_room::text);
END
$$;

-- Returns the tasks of a device that may be in an open room: after their reminder, and before the room closes.
CREATE FUNCTION schedule.tasks_in_rooms(p_device text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN QUERY
    SELECT task.id FROM schedule.task
    WHERE task.device_id = p_device AND task.reminds_at <= v_now AND task.closes_at > v_now;
END
$$;
