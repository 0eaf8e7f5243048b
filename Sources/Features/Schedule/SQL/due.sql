-- The tasks that wait for their claim: the table `due`. The feature Reminders claims them.

-- Whether the task waits for its claim still; if so, holds it until the end of the transaction.
CREATE FUNCTION schedule.lock_if_waiting(p_task schedule.task) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM schedule.due
    WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered
    FOR UPDATE;
    RETURN FOUND;
END
$$;

-- Whether the schedulers may be asleep until later than a task is to be claimed, before it is among those that are due. One that is due before
-- every scheduler has looked again (it does so each 15 seconds) wakes them in any case: what was to wake them earlier may be claimed or
-- cancelled before this commits. Others don't, where they needn't: NOTIFY serialises commits. Apart from waking them, since a condition needs no
-- statement of its own, and hardly any task wakes them.
CREATE FUNCTION schedule.schedulers_sleep_past(p_reminds_at timestamptz, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_reminds_at < p_now + interval '20 seconds' OR NOT EXISTS (
        SELECT FROM schedule.due WHERE reminds_at <= p_reminds_at
    );
END
$$;

CREATE FUNCTION schedule.wake_schedulers(p_reminds_at timestamptz) RETURNS void
LANGUAGE sql AS $$ SELECT pg_notify('letsswitch_due', extract(epoch FROM p_reminds_at)::text) $$;

-- Whether the task waits for its claim.
CREATE FUNCTION schedule.is_due(p_task schedule.task) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM schedule.due WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered)
$$;

-- Reminders of the next hour, counted to 10,000, and by how many seconds the earliest is late.
CREATE FUNCTION schedule.due_soon(OUT due bigint, OUT late double precision)
LANGUAGE sql STABLE AS $$
    SELECT count(*), greatest(0, extract(epoch FROM core.clock() - min(soon.reminds_at)))::double precision
    FROM (
        SELECT due.reminds_at FROM schedule.due
        WHERE due.reminds_at < core.clock() + interval '1 hour'
        ORDER BY due.reminds_at LIMIT 10000
    ) AS soon
$$;

-- Takes the tasks that are due, at most p_limit, the longest due first: their rows are deleted. Locked tasks, and those
-- whose claim has failed, are skipped.
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

-- Locks the tasks that are due, also those whose next attempt is. Locked tasks are skipped.
CREATE FUNCTION schedule.lock_due(p_now timestamptz, p_limit integer) RETURNS SETOF schedule.due
LANGUAGE sql AS $$
    SELECT * FROM schedule.due
    WHERE due.reminds_at <= p_now AND (due.retry_at IS NULL OR due.retry_at <= p_now)
    ORDER BY due.reminds_at, due.registered
    LIMIT p_limit
    FOR UPDATE SKIP LOCKED
$$;

-- Takes a locked task.
CREATE FUNCTION schedule.delete_due(p_reminds_at timestamptz, p_registered bigint) RETURNS void
LANGUAGE sql AS $$ DELETE FROM schedule.due WHERE due.reminds_at = p_reminds_at AND due.registered = p_registered $$;

-- After the claim of a locked task has failed: it is tried again after 1, 2, 4, … 64 seconds, and at its start. From then on
-- it is tried once a day.
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

-- Whether a task whose claim has failed is to be tried again.
CREATE FUNCTION schedule.has_failed_due(p_now timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$ SELECT EXISTS (SELECT FROM schedule.due WHERE due.retry_at <= p_now) $$;

-- When the next task is due, or the next attempt of a failed one; NULL if there is none.
CREATE FUNCTION schedule.next_due_at() RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT least(
        (SELECT min(waiting.reminds_at) FROM schedule.due AS waiting WHERE waiting.retry_at IS NULL),
        (SELECT min(failed.retry_at) FROM schedule.due AS failed WHERE failed.retry_at IS NOT NULL))
$$;
