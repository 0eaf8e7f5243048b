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
    v_waiting uuid[];
BEGIN
    -- A claim of a partner's task, at this moment, would still read the title here and send it.
    PERFORM pg_advisory_xact_lock(19540::bigint << 48);
    SELECT array_agg(task.id) INTO v_tasks FROM letsswitch.task WHERE task.device_id = p_device;
    -- Whoever pairs or cancels one of these comes before or after, never between.
    SELECT array_agg(held.task_id) INTO v_waiting FROM (
        SELECT due.task_id FROM letsswitch.task
        JOIN letsswitch.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.id = ANY (v_tasks)
        ORDER BY task.starts_at
        FOR UPDATE OF due
    ) AS held;
    -- Those who deliver or purge hold several as well.
    PERFORM FROM letsswitch.task
    JOIN letsswitch.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
    WHERE task.id = ANY (v_tasks)
    ORDER BY reminder.id
    FOR UPDATE OF reminder;
    v_now := letsswitch.clock();

    DELETE FROM letsswitch.device WHERE device.id = p_device;
    RETURN QUERY
    WITH anonymous AS (
        UPDATE letsswitch.task SET device_id = NULL, title = NULL
        WHERE task.id = ANY (v_tasks) AND task.partner_id IS NOT NULL AND task.closes_at > v_now
        RETURNING task.starts_at
    )
    SELECT extract(epoch FROM anonymous.starts_at)::bigint FROM anonymous;
    RETURN QUERY
    WITH gone AS (
        DELETE FROM letsswitch.task WHERE task.id = ANY (v_tasks) AND task.device_id IS NOT NULL
        RETURNING task.id, task.starts_at, task.reminds_at, task.registered, task.partner_id
    ),
    unclaimed AS (
        DELETE FROM letsswitch.due USING gone
        WHERE due.reminds_at = gone.reminds_at AND due.registered = gone.registered
    ),
    forgotten AS (
        DELETE FROM letsswitch.reminder USING gone
        WHERE reminder.starts_at = gone.starts_at AND reminder.task_id = gone.id
    )
    SELECT extract(epoch FROM gone.starts_at)::bigint FROM gone
    WHERE gone.partner_id IS NULL AND gone.id = ANY (v_waiting);
END
$$;

-- Forgets what started longer ago than p_retention seconds, and what is left of erased people once it is over; p_limit
-- tasks of either kind at a time. Returns how many it took: more may be left until that is 0.
CREATE FUNCTION letsswitch.purge(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    v_reminders uuid[];
    v_more uuid[];
BEGIN
    -- What has not been claimed yet is no history: it has no reminder.
    SELECT array_agg(old.id) INTO v_reminders FROM (
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.starts_at < v_before ORDER BY reminder.starts_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) AS old;
    SELECT array_agg(over.id) INTO v_more FROM (
        SELECT reminder.id FROM letsswitch.task
        JOIN letsswitch.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
        WHERE task.device_id IS NULL AND task.starts_at <= v_now AND task.closes_at <= v_now
        ORDER BY task.starts_at LIMIT p_limit
        FOR UPDATE OF reminder SKIP LOCKED
    ) AS over;
    WITH past AS (
        DELETE FROM letsswitch.reminder WHERE reminder.id = ANY (v_reminders || v_more) RETURNING reminder.task_id
    )
    DELETE FROM letsswitch.task WHERE task.id = ANY (ARRAY(SELECT past.task_id FROM past));
    -- The oldest claims, if nothing is left of them.
    DELETE FROM letsswitch.claim WHERE claim.batch = ANY (ARRAY(
        SELECT oldest.batch FROM letsswitch.claim AS oldest ORDER BY oldest.batch LIMIT p_limit
    )) AND NOT EXISTS (
        SELECT FROM letsswitch.reminder
        WHERE reminder.id > letsswitch.first_id(claim.batch) AND reminder.id < letsswitch.first_id(claim.batch + 1)
    );
    RETURN coalesce(cardinality(v_reminders), 0) + coalesce(cardinality(v_more), 0);
END
$$;
