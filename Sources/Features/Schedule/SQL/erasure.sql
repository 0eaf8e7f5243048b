-- The erasure of a device's data in the schedule.

-- Ends a device's series, and makes its tasks and its calendar invisible. Returns whether the device had tasks or a
-- calendar.
CREATE FUNCTION schedule.begin_erasing(p_device text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_up_to bigint;
    v_is_known boolean;
BEGIN
    -- Waits for transactions that create tasks of these series now, so that the next statement finds their tasks.
    DELETE FROM schedule.series WHERE series.id = ANY (ARRAY(
        SELECT own.id FROM schedule.series AS own WHERE own.device_id = p_device ORDER BY own.id FOR UPDATE));
    v_up_to := coalesce((
        SELECT task.registered FROM schedule.task WHERE task.device_id || '' = p_device
        ORDER BY task.registered DESC LIMIT 1
    ), 0);
    v_is_known := v_up_to > core.erased_up_to(p_device)
        OR EXISTS (SELECT FROM schedule.calendar WHERE calendar.device_id = p_device);
    UPDATE core.erasure SET up_to = greatest(erasure.up_to, v_up_to) WHERE erasure.device_id = p_device;
    DELETE FROM schedule.calendar WHERE calendar.device_id = p_device;
    RETURN v_is_known;
END
$$;

-- Deletes at most p_limit tasks and p_limit preferences of a device that is being erased. Returns whether none are
-- left.
CREATE FUNCTION schedule.erase_rows(p_device text, p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_up_to bigint := core.erased_up_to(p_device);
    v_tasks uuid[] := ARRAY(
        SELECT task.id FROM schedule.task
        WHERE task.device_id || '' = p_device AND task.registered <= v_up_to
        ORDER BY task.registered LIMIT p_limit
    );
BEGIN
    IF v_tasks <> '{}' THEN
        PERFORM schedule.notify_slots(ARRAY(SELECT DISTINCT gone.starts_at FROM schedule.erase_tasks(v_tasks) AS gone));
    END IF;
    RETURN schedule.delete_preferences(p_device, p_limit) < p_limit AND cardinality(v_tasks) < p_limit;
END
$$;

-- Erases some hundred tasks of one device. Returns the starts (epoch seconds) of slots that have changed for readers of
-- the day: no task waits in the slot any more, or a partner's title is gone.
--
-- A task with a partner becomes anonymous, and stays until the match is over. The delivery of a reminder has no
-- personal data; it is deleted when its turn to be sent comes. Each step goes from the tasks to their rows in another
-- table, by a subquery that the planner can't reorder. The planner's statistics may be older than the tasks. It could
-- then read the rows of all devices for each task.
CREATE FUNCTION schedule.erase_tasks(p_tasks uuid[]) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_waiting uuid[] := schedule.lock_erased_tasks(p_tasks);
    v_now timestamptz := core.clock();
    v_gone schedule.task[];
BEGIN
    PERFORM schedule.notify_erased_tasks(p_tasks, v_now);
    PERFORM schedule.delete_attendance(p_tasks);
    RETURN QUERY
    WITH anonymous AS (
        UPDATE schedule.task SET device_id = NULL, title = NULL, series_id = NULL, series_day = NULL, invitation = NULL
        WHERE task.id = ANY (p_tasks) AND task.partner_id IS NOT NULL AND task.closes_at > v_now
        RETURNING task.starts_at
    )
    SELECT extract(epoch FROM anonymous.starts_at)::bigint FROM anonymous;
    WITH gone AS (
        DELETE FROM schedule.task WHERE task.id = ANY (p_tasks) AND task.device_id IS NOT NULL RETURNING task
    )
    SELECT array_agg(gone.task) INTO v_gone FROM gone;
    IF v_gone IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM schedule.due WHERE due.ctid = ANY (ARRAY(
        SELECT held.ctid FROM unnest(v_gone) AS gone
        CROSS JOIN LATERAL (
            SELECT due.ctid FROM schedule.due
            WHERE due.reminds_at = gone.reminds_at AND due.registered = gone.registered
            OFFSET 0
        ) AS held
    ));
    PERFORM schedule.delete_reminders(
        ARRAY(SELECT gone.id FROM unnest(v_gone) AS gone), ARRAY(SELECT gone.starts_at FROM unnest(v_gone) AS gone));
    RETURN QUERY
    SELECT extract(epoch FROM gone.starts_at)::bigint FROM unnest(v_gone) AS gone
    WHERE gone.partner_id IS NULL AND gone.invites_until IS NULL AND gone.id = ANY (v_waiting);
END
$$;

-- Locks tasks that are being erased: their `due` rows in order of start, then their reminders. Returns the tasks that
-- aren't claimed. Fails if one of the tasks was moved to another slot in the meantime.
CREATE FUNCTION schedule.lock_erased_tasks(p_tasks uuid[]) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
    -- The numbers of the tasks before they are locked. Moving a task changes its number.
    v_registered bigint[] := ARRAY(
        SELECT task.registered FROM schedule.task WHERE task.id = ANY (p_tasks) ORDER BY task.registered);
    v_waiting uuid[];
BEGIN
    -- Waits for transactions that match or cancel one of these tasks.
    v_waiting := ARRAY(
        SELECT held.task_id FROM (
            SELECT task.reminds_at, task.registered FROM schedule.task
            WHERE task.id = ANY (p_tasks) ORDER BY task.starts_at OFFSET 0
        ) AS own
        CROSS JOIN LATERAL (
            SELECT due.task_id FROM schedule.due
            WHERE due.reminds_at = own.reminds_at AND due.registered = own.registered
            FOR UPDATE
        ) AS held
    );
    PERFORM schedule.lock_reminders(p_tasks);
    IF EXISTS (
        SELECT FROM schedule.task WHERE task.id = ANY (p_tasks) AND NOT task.registered = ANY (v_registered)
    ) THEN
        RAISE 'a task was moved meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN v_waiting;
END
$$;

-- Notifies the daemons of erased tasks whose rooms are open: members that joined with one of these tasks must leave.
CREATE FUNCTION schedule.notify_erased_tasks(p_tasks uuid[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    -- One notification has the ids of 200 tasks, so that they fit into its payload.
    PERFORM pg_notify('letsswitch_erased_tasks', string_agg(own.id::text, ','))
    FROM (
        SELECT task.id, row_number() OVER () AS place FROM schedule.task
        WHERE task.id = ANY (p_tasks) AND task.reminds_at <= p_now AND task.closes_at > p_now
    ) AS own
    GROUP BY own.place / 200;
END
$$;

-- Deletes the attendance of these locked tasks, and the connections that daemons have reported for them.
CREATE FUNCTION schedule.delete_attendance(p_tasks uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM core.attendance WHERE attendance.ctid = ANY (ARRAY(
        SELECT own.place FROM (
            SELECT task.id, task.room_id FROM schedule.task WHERE task.id = ANY (p_tasks) OFFSET 0
        ) AS erased
        CROSS JOIN LATERAL (
            SELECT attendance.ctid AS place FROM core.attendance
            WHERE attendance.room_id = erased.room_id AND attendance.task_id = erased.id
            OFFSET 0
        ) AS own
    ));
    DELETE FROM core.presence WHERE presence.ctid = ANY (ARRAY(
        SELECT own.place FROM (
            SELECT task.id, task.room_id FROM schedule.task WHERE task.id = ANY (p_tasks) OFFSET 0
        ) AS erased
        CROSS JOIN LATERAL (
            SELECT presence.ctid AS place FROM core.presence
            WHERE presence.room_id = erased.room_id AND presence.task_id = erased.id
            OFFSET 0
        ) AS own
    ));
END
$$;

-- Deletes at most p_limit preferences of an erased device, and preferences of other devices for it. Returns the number
-- of deleted preferences. If it is p_limit, more may be left.
CREATE FUNCTION schedule.delete_preferences(p_device text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM schedule.preference WHERE preference.id = ANY (ARRAY(
        SELECT own.id FROM (
            (SELECT mine.id FROM schedule.preference AS mine WHERE mine.device_id = p_device LIMIT p_limit)
            UNION
            (SELECT theirs.id FROM schedule.preference AS theirs WHERE theirs.preferred_id = p_device LIMIT p_limit)
        ) AS own LIMIT p_limit
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;
