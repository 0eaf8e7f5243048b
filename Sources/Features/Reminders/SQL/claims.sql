-- Claiming due tasks.

-- The number of the next claim. The claims' lock must be held; `publish_batch` takes it. Numbers are consecutive
-- (except after a crash), so a daemon that knows one batch sees from the next one's number whether it missed another.
CREATE FUNCTION letsswitch.next_batch() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM letsswitch.batch
$$;

-- Notifies the daemons of a batch that was written.
CREATE FUNCTION letsswitch.publish_batch(p_batch bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('letsswitch.batch', p_batch);
    PERFORM pg_notify('letsswitch_claimed', p_batch::text);
END
$$;

-- Claims due tasks, at most p_limit (and 4,096), the longest due first, which opens the matches' rooms. Writes the
-- reminders. It is one statement, so a client that stops can't hold a claim. Tasks whose claim failed come when nothing
-- else is due.
CREATE FUNCTION letsswitch.claim_due(p_limit integer) RETURNS SETOF letsswitch.claimed_reminder
LANGUAGE plpgsql AS $$
DECLARE
    -- The largest value of seq.
    c_limit CONSTANT integer := 4096;
    v_now timestamptz;
    v_batch bigint;
BEGIN
    -- One claim at a time, so that a lower seq becomes visible first.
    PERFORM letsswitch.lock_claims();
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
        INSERT INTO letsswitch.reminder (id, seq, task_id, starts_at, claimed_at, state)
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
    PERFORM letsswitch.publish_batch(v_batch);
    PERFORM letsswitch.write_claimed(v_batch);
    -- A statement of its own, because it sees what earlier holders of the rows have committed: a match, a new title.
    RETURN QUERY SELECT * FROM letsswitch.claim_result(v_batch);
END
$$;

-- Claims due tasks one by one, including those whose next attempt is due. A failed one is retried later.
CREATE FUNCTION letsswitch.claim_each(p_limit integer) RETURNS SETOF letsswitch.claimed_reminder
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_batch bigint;
    v_place integer := 0;
    v_due letsswitch.due;
    v_claimed letsswitch.claimed_reminder;
    v_closes_at timestamptz;
    v_expires_at timestamptz;
BEGIN
    PERFORM letsswitch.lock_claims();
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
            INSERT INTO letsswitch.reminder (id, seq, task_id, starts_at, claimed_at, state)
            VALUES (
                letsswitch.reminder_id((v_batch << 12) + v_place, v_due.task_id), (v_batch << 12) + v_place,
                v_due.task_id, v_due.starts_at, v_now,
                CASE WHEN v_due.starts_at > v_now THEN 'pending' ELSE 'missed' END
            );
            -- A row that can't be read isn't sent.
            SELECT * INTO v_claimed FROM letsswitch.claimed_reminder AS claimed
            WHERE claimed.id = letsswitch.reminder_id((v_batch << 12) + v_place, v_due.task_id);
            v_place := v_place + 1;
            v_closes_at := greatest(v_closes_at, v_due.closes_at);
            IF v_due.starts_at > v_now THEN
                v_expires_at := least(v_expires_at, v_due.starts_at);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            IF letsswitch.is_transient_error(SQLSTATE) THEN
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
    PERFORM letsswitch.publish_batch(v_batch);
    PERFORM letsswitch.write_claimed(v_batch);
    RETURN QUERY SELECT * FROM letsswitch.claim_result(v_batch);
END
$$;

-- When the scheduler has to act next: the earliest task to claim (or the next attempt of a failed one), and the
-- earliest reminder to mark as missed. Epoch seconds.
CREATE FUNCTION letsswitch.next_due(
    OUT due double precision, OUT expiry double precision, OUT now double precision
)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    due := extract(epoch FROM least(
        (SELECT min(waiting.reminds_at) FROM letsswitch.due AS waiting WHERE waiting.retry_at IS NULL),
        (SELECT min(failed.retry_at) FROM letsswitch.due AS failed WHERE failed.retry_at IS NOT NULL)
    ));
    expiry := extract(epoch FROM (SELECT min(claim.expires_at) FROM letsswitch.claim) + interval '2 seconds');
    now := extract(epoch FROM letsswitch.clock());
END
$$;
