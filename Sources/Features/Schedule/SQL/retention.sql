-- The deletion of past tasks, and of addresses, calendars and preferences that are no longer used.

-- Records that a device was in use at the time p_at. Callers use it when the device's series are read, and for the
-- start of a deleted task that was registered by hand. The time is written at most once a day. Locked rows are skipped,
-- because a transaction that locks such a row records the use itself.
CREATE FUNCTION schedule.touch_device(p_device text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_before timestamptz := p_at - interval '1 day';
BEGIN
    UPDATE core.address SET used_at = p_at WHERE address.id = ANY (ARRAY(
        SELECT own.id FROM core.address AS own
        WHERE own.device_id = p_device AND own.used_at < v_before
        FOR UPDATE SKIP LOCKED
    ));
    UPDATE schedule.calendar SET used_at = p_at WHERE calendar.device_id = ANY (ARRAY(
        SELECT own.device_id FROM schedule.calendar AS own
        WHERE own.device_id = p_device AND own.used_at < v_before
        FOR UPDATE SKIP LOCKED
    ));
    UPDATE schedule.series SET used_at = p_at WHERE series.id = ANY (ARRAY(
        SELECT own.id FROM schedule.series AS own
        WHERE own.device_id = p_device AND own.used_at < v_before
        FOR UPDATE SKIP LOCKED
    ));
END
$$;

-- Whether a user still uses a device's schedule: a task is stored that was registered by hand, or whose user joined the
-- room or reported the start. A task of a series isn't enough, because a series creates tasks for users who never come
-- back.
CREATE FUNCTION schedule.is_in_use(p_device text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_erased bigint := core.erased_up_to(p_device);
BEGIN
    RETURN EXISTS (
        SELECT FROM schedule.task
        WHERE task.device_id = p_device AND task.registered > v_erased AND (
            task.series_id IS NULL OR task.began_at IS NOT NULL
            OR EXISTS (
                SELECT FROM core.attendance
                WHERE attendance.room_id = task.room_id AND attendance.task_id = task.id AND attendance.visits > 0)));
END
$$;

-- Whether a device has a task, a series, an address or a calendar.
CREATE FUNCTION schedule.is_in_schedule(p_device text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM schedule.task WHERE task.device_id = p_device)
        OR EXISTS (SELECT FROM schedule.series WHERE series.device_id = p_device)
        OR EXISTS (SELECT FROM core.address WHERE address.device_id = p_device)
        OR EXISTS (SELECT FROM schedule.calendar WHERE calendar.device_id = p_device)
$$;

-- Deletes past tasks. The caller deletes their reminders in the same transaction. A task that was registered by hand
-- shows that its device was in use at the task's start.
CREATE FUNCTION schedule.delete_past_tasks(p_tasks uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_used record;
BEGIN
    FOR v_used IN
        WITH gone AS (
            DELETE FROM schedule.task WHERE task.id = ANY (p_tasks)
            RETURNING task.device_id, task.starts_at, task.series_id
        )
        SELECT gone.device_id, max(gone.starts_at) AS latest FROM gone
        WHERE gone.device_id IS NOT NULL AND gone.series_id IS NULL GROUP BY gone.device_id
    LOOP
        PERFORM schedule.touch_device(v_used.device_id, v_used.latest);
    END LOOP;
END
$$;

-- Returns the tasks of erased users whose matches are over.
CREATE FUNCTION schedule.erased_tasks(p_now timestamptz) RETURNS TABLE (id uuid, starts_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT task.id, task.starts_at FROM schedule.task
    WHERE task.device_id IS NULL AND task.starts_at <= p_now AND task.closes_at <= p_now
$$;

-- Deletes addresses, calendars and preferences that weren't used for p_retention seconds, at most p_limit of each. They
-- are kept if their device is in use. A preference is kept while its owner has a task, a series, an address or a
-- calendar. Returns the number of rows that it checked. If it isn't 0, more may be left.
CREATE FUNCTION schedule.delete_unused(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    -- The rows are locked, so a transaction that registers one of them again waits, or comes first.
    v_addresses bigint[] := ARRAY(
        SELECT address.id FROM core.address
        WHERE address.used_at < v_before ORDER BY address.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    v_calendars text[] := ARRAY(
        SELECT calendar.device_id FROM schedule.calendar
        WHERE calendar.used_at < v_before ORDER BY calendar.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    v_preferences uuid[] := ARRAY(
        SELECT preference.id FROM schedule.preference
        WHERE preference.used_at < v_before ORDER BY preference.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
BEGIN
    UPDATE core.address SET used_at = v_now
    WHERE address.id = ANY (v_addresses) AND schedule.is_in_use(address.device_id);
    DELETE FROM core.address WHERE address.id = ANY (v_addresses) AND address.used_at < v_before;
    UPDATE schedule.calendar SET used_at = v_now
    WHERE calendar.device_id = ANY (v_calendars) AND schedule.is_in_use(calendar.device_id);
    DELETE FROM schedule.calendar WHERE calendar.device_id = ANY (v_calendars) AND calendar.used_at < v_before;
    -- Deleted last: an owner whose last address or calendar was just deleted keeps no preferences.
    UPDATE schedule.preference SET used_at = v_now
    WHERE preference.id = ANY (v_preferences) AND schedule.is_in_schedule(preference.device_id);
    DELETE FROM schedule.preference WHERE preference.id = ANY (v_preferences) AND preference.used_at < v_before;
    RETURN cardinality(v_addresses) + cardinality(v_calendars) + cardinality(v_preferences);
END
$$;
