-- A person's token, forgetting a person, and forgetting the past.

CREATE FUNCTION letsswitch.register_token(p_device text, p_token text, p_sandbox boolean) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO letsswitch.device (id, push_token, sandbox) VALUES (p_device, p_token, p_sandbox)
    ON CONFLICT (id) DO UPDATE SET push_token = excluded.push_token, sandbox = excluded.sandbox
$$;

-- Erases a person. Of a task with a partner the match remains until it is over. Returns the instants at which nobody waits any
-- more, or whose partner has lost a title, for those who look at the day.
CREATE FUNCTION letsswitch.erase_device(p_device text) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    v_tasks uuid[];
    v_reminders uuid[];
BEGIN
    -- A claim of a partner's task, at this moment, would still read the title here and write it into a reminder.
    PERFORM pg_advisory_xact_lock(19540::bigint << 48);
    -- Whoever pairs or claims one of these comes before or after, never between.
    SELECT array_agg(held.id) INTO v_tasks FROM (
        SELECT task.id FROM letsswitch.task WHERE task.device_id = p_device ORDER BY task.starts_at FOR UPDATE
    ) AS held;
    v_now := letsswitch.clock();

    -- The partners' reminders bear the person's titles.
    SELECT array_agg(held.id) INTO v_reminders FROM (
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.id = ANY (ARRAY(
            SELECT unnest(ARRAY[task.reminder_id, partner.reminder_id]) FROM letsswitch.task
            LEFT JOIN letsswitch.task AS partner ON partner.id = task.partner_id
            WHERE task.id = ANY (v_tasks)
        ))
        ORDER BY reminder.id
        FOR UPDATE
    ) AS held;
    DELETE FROM letsswitch.reminder WHERE reminder.id = ANY (v_reminders) AND reminder.device_id = p_device;
    UPDATE letsswitch.reminder SET payload = letsswitch.reminder_payload(
        reminder.id, task.id, task.title, task.starts_at, task.start_time, task.time_zone, task.room_id, NULL
    )
    FROM letsswitch.task
    WHERE reminder.id = ANY (v_reminders) AND task.id = reminder.task_id;

    DELETE FROM letsswitch.device WHERE device.id = p_device;
    RETURN QUERY
    WITH anonymous AS (
        UPDATE letsswitch.task SET device_id = NULL, title = NULL
        FROM letsswitch.match
        WHERE task.id = ANY (v_tasks) AND task.partner_id IS NOT NULL AND match.room_id = task.room_id
            AND (match.closes_at IS NULL OR match.closes_at > v_now)
        RETURNING task.starts_at
    )
    SELECT extract(epoch FROM anonymous.starts_at)::bigint FROM anonymous;
    RETURN QUERY
    WITH gone AS (
        DELETE FROM letsswitch.task WHERE task.id = ANY (v_tasks) AND task.device_id IS NOT NULL
        RETURNING task.starts_at, task.partner_id, task.claimed_at
    )
    SELECT extract(epoch FROM gone.starts_at)::bigint FROM gone
    WHERE gone.partner_id IS NULL AND gone.claimed_at IS NULL;
END
$$;

-- Forgets what started longer ago than p_retention seconds, and what is left of erased people once it is over; p_limit
-- reminders, matches and tasks at a time. Returns how many rows it took: more may be left until that is 0.
CREATE FUNCTION letsswitch.purge(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    v_rooms uuid[];
    v_rows bigint;
    v_count bigint := 0;
BEGIN
    -- Every task that has been claimed has a reminder, or is erased.
    WITH past AS (
        DELETE FROM letsswitch.reminder WHERE reminder.id = ANY (ARRAY(
            SELECT old.id FROM letsswitch.reminder AS old
            WHERE old.starts_at < v_before ORDER BY old.starts_at LIMIT p_limit FOR UPDATE SKIP LOCKED
        ))
        RETURNING reminder.task_id
    )
    DELETE FROM letsswitch.task WHERE task.id = ANY (ARRAY(SELECT past.task_id FROM past));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_count := v_count + v_rows;

    WITH over AS (
        DELETE FROM letsswitch.task WHERE task.id = ANY (ARRAY(
            SELECT erased.id FROM letsswitch.task AS erased
            JOIN letsswitch.match ON match.room_id = erased.room_id
            WHERE erased.device_id IS NULL AND erased.starts_at <= v_now AND match.closes_at <= v_now
            ORDER BY erased.starts_at LIMIT p_limit
            FOR UPDATE OF erased SKIP LOCKED
        ))
        RETURNING task.room_id
    )
    SELECT array_agg(over.room_id), count(*) INTO v_rooms, v_rows FROM over;
    v_count := v_count + v_rows;

    -- A match stays as long as one of its tasks does.
    DELETE FROM letsswitch.match WHERE match.room_id = ANY (v_rooms || ARRAY(
        SELECT old.room_id FROM letsswitch.match AS old
        WHERE old.closes_at < v_before ORDER BY old.closes_at LIMIT p_limit
    )) AND NOT EXISTS (SELECT FROM letsswitch.task WHERE task.room_id = match.room_id);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_count + v_rows;
END
$$;
