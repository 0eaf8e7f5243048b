-- Deleting past tasks and what nobody uses any more.

-- A device was in use at an instant: its series were read, or a task that it registered is deleted. Written at most
-- once a day and without waiting for locks, since a transaction that holds one of the rows also uses it.
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

-- Whether a person uses a device's schedule: registered a task by hand, or joined one, and that is still stored;
-- purging then records it. A series creates tasks also for people who have long gone.
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

-- Whether anything of a device's is here by which it comes to the schedule.
CREATE FUNCTION schedule.is_in_schedule(p_device text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM schedule.task WHERE task.device_id = p_device)
        OR EXISTS (SELECT FROM schedule.series WHERE series.device_id = p_device)
        OR EXISTS (SELECT FROM core.address WHERE address.device_id = p_device)
        OR EXISTS (SELECT FROM schedule.calendar WHERE calendar.device_id = p_device)
$$;

-- Deletes past tasks, whose reminders are deleted in the same transaction. Tasks that a person registered by hand show that
-- the device is in use.
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

-- What is left of erased users' tasks whose matches are over.
CREATE FUNCTION schedule.erased_tasks(p_now timestamptz) RETURNS TABLE (id uuid, starts_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT task.id, task.starts_at FROM schedule.task
    WHERE task.device_id IS NULL AND task.starts_at <= p_now AND task.closes_at <= p_now
$$;

-- Deletes addresses, calendars and preferences that weren't used for p_retention seconds, p_limit of each at a time, unless
-- their device is in use. A preference counts as used while its owner has anything else here. Returns how many it looked at;
-- more may be left until that is 0.
CREATE FUNCTION schedule.delete_unused(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    -- A transaction that registers them again is before or after this one.
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
    -- After these, because a device that was just deleted keeps none.
    UPDATE schedule.preference SET used_at = v_now
    WHERE preference.id = ANY (v_preferences) AND schedule.is_in_schedule(preference.device_id);
    DELETE FROM schedule.preference WHERE preference.id = ANY (v_preferences) AND preference.used_at < v_before;
    RETURN cardinality(v_addresses) + cardinality(v_calendars) + cardinality(v_preferences);
END
$$;
