-- The meaning of a room's UUID, and the list of open rooms.

-- state: open, not_open (opens_at tells when), closed, unknown. Instants are epoch seconds.
CREATE FUNCTION letsswitch.find_room(
    p_room uuid,
    OUT state text, OUT opens_at double precision, OUT closes_at double precision, OUT now double precision
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_room record;
BEGIN
    now := extract(epoch FROM v_now);
    SELECT
        count(coalesce(task.partner_id, CASE WHEN task.waits_until IS NOT NULL THEN task.id END)) > 0 AS is_paired,
        min(task.reminds_at) AS opens_at,
        max(task.closes_at) AS closes_at,
        count(due.task_id) < count(*) AS is_claimed
    INTO v_room
    FROM letsswitch.visible_task AS task
    LEFT JOIN letsswitch.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
    WHERE task.room_id = p_room AND (task.device_id IS NOT NULL OR task.partner_id IS NOT NULL);
    state := CASE
        -- A task without a partner has a room only until its reminder. A user whose partner left after it waits there.
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

-- The rooms that are open now, for a daemon that starts. From the claims: the tasks know when a room closes, but not that
-- it was opened.
CREATE FUNCTION letsswitch.open_rooms() RETURNS TABLE (room_id uuid, closes_at double precision)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    RETURN QUERY
    SELECT DISTINCT task.room_id, extract(epoch FROM task.closes_at)::double precision
    FROM letsswitch.claim
    CROSS JOIN LATERAL (
        SELECT reminder.task_id FROM letsswitch.reminder
        WHERE reminder.id > letsswitch.first_reminder_id(claim.batch) AND reminder.id < letsswitch.first_reminder_id(claim.batch + 1)
        OFFSET 0
    ) AS claimed
    JOIN letsswitch.task ON task.id = claimed.task_id
    WHERE claim.closes_at > v_now AND (task.partner_id IS NOT NULL OR task.waits_until IS NOT NULL) AND task.closes_at > v_now;
END
$$;

-- The tasks of a device whose rooms are open now.
CREATE FUNCTION letsswitch.tasks_in_rooms(p_device text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    RETURN QUERY
    SELECT task.id FROM letsswitch.task
    WHERE task.device_id = p_device AND task.reminds_at <= v_now AND task.closes_at > v_now;
END
$$;

-- Ends an open room for everybody. Returns the result of `find_room`. Daemons that have it open for another reason
-- close it.
CREATE FUNCTION letsswitch.close_room(p_room uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
BEGIN
    PERFORM FROM letsswitch.task WHERE task.room_id = p_room ORDER BY task.registered FOR UPDATE;
    v_state := (SELECT found.state FROM letsswitch.find_room(p_room) AS found);
    CASE v_state
        WHEN 'open' THEN
            UPDATE letsswitch.task SET closes_at = letsswitch.clock() WHERE task.room_id = p_room;
            PERFORM letsswitch.dissolve_room(p_room);
        WHEN 'not_open' THEN
            NULL;
        ELSE
            PERFORM pg_notify('letsswitch_dissolved', p_room::text);
    END CASE;
    RETURN v_state;
END
$$;
