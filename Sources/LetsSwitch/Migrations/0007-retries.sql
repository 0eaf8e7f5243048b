-- A task that can't be claimed must not keep the others from their minute.
--
-- Claims are made many at a time, and what fails for one fails for all of them. Then each is claimed by itself, and what
-- fails alone is tried again: after 1, 2, 4, … 64 seconds, at its start for the last time (it is missed then), and from there on
-- once a day, until whatever is wrong with it has been mended.

ALTER TABLE letsswitch.due
    ADD COLUMN failures integer,
    -- NULL: it hasn't failed yet.
    ADD COLUMN retry_at timestamptz;
CREATE INDEX due_retry ON letsswitch.due (retry_at) WHERE retry_at IS NOT NULL;

-- Whether an error has nothing to do with the row at which it struck: lost connections, a read-only database, deadlocks, want
-- of resources, cancelling, I/O.
CREATE FUNCTION letsswitch.is_nobodys_fault(p_sqlstate text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT left(p_sqlstate, 2) IN ('08', '25', '40', '53', '57', '58')
$$;

-- The number that the next claim will have. With the claims' lock held; `used_batch` takes it. Numbers follow one another
-- (save after a crash), so that whoever knows one batch sees by the next one's number whether another was between.
CREATE FUNCTION letsswitch.next_batch() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM letsswitch.batch
$$;

-- A batch was written: tells the daemons.
CREATE FUNCTION letsswitch.used_batch(p_batch bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('letsswitch.batch', p_batch);
    PERFORM pg_notify('letsswitch_fired', p_batch::text);
END
$$;

-- Several claims in firing order: those after p_after, up to p_until.
CREATE FUNCTION letsswitch.fired_between(p_after bigint, p_until bigint) RETURNS SETOF letsswitch.fired
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_from uuid := letsswitch.first_id(p_after + 1);
    v_until uuid := letsswitch.first_id(p_until + 1);
BEGIN
    RETURN QUERY
    SELECT * FROM letsswitch.fired WHERE fired.id > v_from AND fired.id < v_until ORDER BY fired.id;
END
$$;

-- Claims what is due task by task, those included whose next try has come; what fails is put off.
CREATE FUNCTION letsswitch.claim_each(p_limit integer) RETURNS SETOF letsswitch.fired
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz;
    v_batch bigint;
    v_place integer := 0;
    v_due letsswitch.due;
    v_fired letsswitch.fired;
    v_closes_at timestamptz;
    v_expires_at timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(19540::bigint << 48);
    v_now := letsswitch.clock();
    v_batch := letsswitch.next_batch();
    FOR v_due IN
        SELECT * FROM letsswitch.due
        WHERE due.reminds_at <= v_now AND (due.retry_at IS NULL OR due.retry_at <= v_now)
        ORDER BY due.reminds_at, due.registered
        LIMIT least(p_limit, 4096)
        FOR UPDATE SKIP LOCKED
    LOOP
        BEGIN
            DELETE FROM letsswitch.due WHERE due.reminds_at = v_due.reminds_at AND due.registered = v_due.registered;
            INSERT INTO letsswitch.reminder (id, seq, task_id, starts_at, fired_at, state)
            VALUES (
                letsswitch.reminder_id((v_batch << 12) + v_place, v_due.task_id), (v_batch << 12) + v_place,
                v_due.task_id, v_due.starts_at, v_now,
                CASE WHEN v_due.starts_at > v_now THEN 'pending' ELSE 'missed' END
            );
            -- What can't be read can't be sent.
            SELECT * INTO v_fired FROM letsswitch.fired
            WHERE fired.id = letsswitch.reminder_id((v_batch << 12) + v_place, v_due.task_id);
            v_place := v_place + 1;
            v_closes_at := greatest(v_closes_at, v_due.closes_at);
            IF v_due.starts_at > v_now THEN
                v_expires_at := least(v_expires_at, v_due.starts_at);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            IF letsswitch.is_nobodys_fault(SQLSTATE) THEN
                RAISE;
            END IF;
            RAISE WARNING 'task % can''t be claimed: % (%)', v_due.task_id, SQLERRM, SQLSTATE;
            UPDATE letsswitch.due SET
                failures = coalesce(due.failures, 0) + 1,
                retry_at = CASE
                    WHEN v_due.starts_at <= v_now THEN v_now + interval '1 day'
                    ELSE least(v_due.starts_at, v_now + make_interval(secs => 2 ^ least(coalesce(due.failures, 0), 6)))
                END
            WHERE due.reminds_at = v_due.reminds_at AND due.registered = v_due.registered;
        END;
    END LOOP;
    IF v_place = 0 THEN
        RETURN;
    END IF;
    INSERT INTO letsswitch.claim (batch, closes_at, expires_at) VALUES (v_batch, v_closes_at, v_expires_at);
    PERFORM letsswitch.used_batch(v_batch);
    RETURN QUERY SELECT * FROM letsswitch.fired_batch(v_batch);
END
$$;

-- As before, but for what has failed, which comes when nothing else is due; and a number is taken by what writes only.
CREATE OR REPLACE FUNCTION letsswitch.claim_due(p_limit integer) RETURNS SETOF letsswitch.fired
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    -- What seq has room for.
    c_limit CONSTANT integer := 4096;
    v_now timestamptz;
    v_batch bigint;
BEGIN
    -- One claim at a time: what has the lower seq is visible first.
    PERFORM pg_advisory_xact_lock(19540::bigint << 48);
    v_now := letsswitch.clock();
    v_batch := letsswitch.next_batch();

    WITH claimed AS (
        DELETE FROM letsswitch.due WHERE due.ctid = ANY (ARRAY(
            SELECT free.ctid FROM letsswitch.due AS free
            WHERE free.reminds_at <= v_now AND free.retry_at IS NULL
            ORDER BY free.reminds_at, free.registered
            LIMIT least(p_limit, c_limit)
            FOR UPDATE SKIP LOCKED
        ))
        RETURNING due.*
    ),
    placed AS (
        SELECT
            claimed.task_id, claimed.starts_at,
            (v_batch << 12) + row_number() OVER (ORDER BY claimed.reminds_at, claimed.registered) - 1 AS seq
        FROM claimed
    ),
    written AS (
        INSERT INTO letsswitch.reminder (id, seq, task_id, starts_at, fired_at, state)
        SELECT
            letsswitch.reminder_id(placed.seq, placed.task_id), placed.seq, placed.task_id, placed.starts_at, v_now,
            CASE WHEN placed.starts_at > v_now THEN 'pending' ELSE 'missed' END
        FROM placed
    )
    INSERT INTO letsswitch.claim (batch, closes_at, expires_at)
    SELECT v_batch, max(claimed.closes_at), min(claimed.starts_at) FILTER (WHERE claimed.starts_at > v_now)
    FROM claimed
    HAVING count(*) > 0;
    IF NOT FOUND THEN
        IF EXISTS (SELECT FROM letsswitch.due WHERE due.retry_at <= v_now) THEN
            RETURN QUERY SELECT * FROM letsswitch.claim_each(p_limit);
        END IF;
        RETURN;
    END IF;
    PERFORM letsswitch.used_batch(v_batch);
    -- A statement of its own, which sees what those who held the rows before have committed: a pairing, a new title.
    RETURN QUERY SELECT * FROM letsswitch.fired_batch(v_batch);
END
$$;

-- As before, but for what has failed: it waits for its next try.
CREATE OR REPLACE FUNCTION letsswitch.next_due(OUT due double precision, OUT now double precision)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
BEGIN
    due := extract(epoch FROM least(
        (SELECT min(waiting.reminds_at) FROM letsswitch.due AS waiting WHERE waiting.retry_at IS NULL),
        (SELECT min(failed.retry_at) FROM letsswitch.due AS failed WHERE failed.retry_at IS NOT NULL),
        (SELECT min(claim.expires_at) FROM letsswitch.claim) + interval '2 seconds'
    ));
    now := extract(epoch FROM letsswitch.clock());
END
$$;

-- As before, but a batch that can't be written is put off for a minute, and the others are not.
CREATE OR REPLACE FUNCTION letsswitch.expire_reminders() RETURNS TABLE (reminder_id uuid, task_id uuid)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_limit timestamptz := letsswitch.clock() - interval '2 seconds';
    v_batch bigint;
    v_from uuid;
    v_until uuid;
BEGIN
    FOR v_batch IN
        SELECT claim.batch FROM letsswitch.claim
        WHERE claim.expires_at <= v_limit
        ORDER BY claim.expires_at
        LIMIT 10
        FOR UPDATE SKIP LOCKED
    LOOP
        BEGIN
            v_from := letsswitch.first_id(v_batch);
            v_until := letsswitch.first_id(v_batch + 1);
            RETURN QUERY
            WITH missed AS (
                UPDATE letsswitch.reminder SET state = 'missed' WHERE reminder.ctid = ANY (ARRAY(
                    SELECT late.ctid FROM letsswitch.reminder AS late
                    WHERE late.id > v_from AND late.id < v_until
                        AND late.state = 'pending' AND late.starts_at <= v_limit
                    FOR UPDATE SKIP LOCKED
                ))
                RETURNING reminder.id, reminder.task_id
            )
            SELECT missed.id, missed.task_id FROM missed
            JOIN letsswitch.task ON task.id = missed.task_id
            WHERE task.device_id IS NOT NULL;
            UPDATE letsswitch.claim SET expires_at = (
                SELECT min(reminder.starts_at) FROM letsswitch.reminder
                WHERE reminder.id > v_from AND reminder.id < v_until AND reminder.state = 'pending'
            )
            WHERE claim.batch = v_batch;
        EXCEPTION WHEN OTHERS THEN
            IF letsswitch.is_nobodys_fault(SQLSTATE) THEN
                RAISE;
            END IF;
            RAISE WARNING 'batch % can''t be expired: % (%)', v_batch, SQLERRM, SQLSTATE;
            UPDATE letsswitch.claim SET expires_at = v_limit + interval '1 minute' WHERE claim.batch = v_batch;
        END;
    END LOOP;
END
$$;
