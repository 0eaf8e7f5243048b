-- The tasks that wait for their claim: the table `due`. The feature Reminders claims them.

-- Locks a task's row in `due` until the end of the transaction. Returns whether the row exists, which means that the
-- task isn't claimed yet.
CREATE FUNCTION schedule.lock_if_waiting(p_task schedule.task) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM schedule.due
    WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered
    FOR UPDATE;
    RETURN FOUND;
END
$$;

-- Whether the schedulers must be woken for a new task that is due at p_reminds_at. It is called before the task's row
-- is inserted.
--
-- Schedulers sleep until the earliest row that they know, so a later task needn't wake them. This saves a NOTIFY, which
-- makes commits wait for each other. A task that is due within 20 seconds always wakes them: the earlier row may be
-- claimed or deleted before this transaction commits, and each scheduler reads the table by itself only every 15
-- seconds.
--
-- wake_schedulers is a separate function because few tasks need it, and a condition in PL/pgSQL needs no statement of
-- its own.
CREATE FUNCTION schedule.schedulers_sleep_past(p_reminds_at timestamptz, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_reminds_at < p_now + interval '20 seconds' OR NOT EXISTS (
        SELECT FROM schedule.due WHERE reminds_at <= p_reminds_at
    );
END
$$;

-- Notifies the schedulers of all daemons that a task is due at p_reminds_at.
CREATE FUNCTION schedule.wake_schedulers(p_reminds_at timestamptz) RETURNS void
LANGUAGE sql AS $$ SELECT pg_notify('letsswitch_due', extract(epoch FROM p_reminds_at)::text) $$;

-- Whether a task isn't claimed yet.
CREATE FUNCTION schedule.is_due(p_task schedule.task) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM schedule.due WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered)
$$;

-- Returns the number of tasks that are due within the next hour, counted up to 10,000, and by how many seconds the
-- earliest one is late.
CREATE FUNCTION schedule.due_soon(OUT due bigint, OUT late double precision)
LANGUAGE sql STABLE AS $$
    SELECT count(*), greatest(0, extract(epoch FROM core.clock() - min(soon.reminds_at)))::double precision
    FROM (
        SELECT due.reminds_at FROM schedule.due
        WHERE due.reminds_at < core.clock() + interval '1 hour'
        ORDER BY due.reminds_at LIMIT 10000
    ) AS soon
$$;

-- Claims tasks that are due, at most p_limit, the longest due first: deletes and returns their rows. Locked rows, and
-- tasks whose claim has failed before, are skipped.
CREATE FUNCTION schedule.take_due(p_now timestamptz, p_limit integer) RETURNS SETOF schedule.due
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    DELETE FROM schedule.due WHERE due.ctid = ANY (ARRAY(
        SELECT free.ctid FROM schedule.due AS free
        WHERE free.reminds_at <= p_now AND free.retry_at IS NULL
        ORDER BY free.reminds_at, free.registered
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING due.*;
END
$$;

-- Locks and returns tasks that are due, at most p_limit. Tasks whose claim has failed are included if their next
-- attempt is due. Locked rows are skipped.
CREATE FUNCTION schedule.lock_due(p_now timestamptz, p_limit integer) RETURNS SETOF schedule.due
LANGUAGE sql AS $$
    SELECT * FROM schedule.due
    WHERE due.reminds_at <= p_now AND (due.retry_at IS NULL OR due.retry_at <= p_now)
    ORDER BY due.reminds_at, due.registered
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
$$;

-- Deletes the `due` row of a task that lock_due has locked.
CREATE FUNCTION schedule.delete_due(p_reminds_at timestamptz, p_registered bigint) RETURNS void
LANGUAGE sql AS $$ DELETE FROM schedule.due WHERE due.reminds_at = p_reminds_at AND due.registered = p_registered $$;

-- Postpones the claim of a locked task after a failure: to 1, 2, 4, … 64 seconds later, but not beyond the start. From
-- the start on the claim is tried once a day.
CREATE FUNCTION schedule.postpone_due(p_reminds_at timestamptz, p_registered bigint, p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    UPDATE schedule.due SET
        failures = coalesce(due.failures, 0) + 1,
        retry_at = CASE
            WHEN due.starts_at <= p_now THEN p_now + interval '1 day'
            ELSE least(due.starts_at, p_now + make_interval(secs => 2 ^ least(coalesce(due.failures, 0), 6)))
        END
    WHERE due.reminds_at = p_reminds_at AND due.registered = p_registered
$$;

-- Whether the next attempt of a failed claim is due.
CREATE FUNCTION schedule.has_failed_due(p_now timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$ SELECT EXISTS (SELECT FROM schedule.due WHERE due.retry_at <= p_now) $$;

-- Returns when the next task is due, or the next attempt of a failed claim. Returns NULL if there is neither.
CREATE FUNCTION schedule.next_due_at() RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT least(
        (SELECT min(waiting.reminds_at) FROM schedule.due AS waiting WHERE waiting.retry_at IS NULL),
        (SELECT min(failed.retry_at) FROM schedule.due AS failed WHERE failed.retry_at IS NOT NULL))
$$;
