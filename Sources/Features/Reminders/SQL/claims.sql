-- Claiming due tasks.

-- One claim at a time.
CREATE FUNCTION reminders.lock_claims() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19540::bigint << 48) $$;

-- Blocks claims while it is held; many transactions can hold it. Only for short transactions.
CREATE FUNCTION reminders.lock_claims_shared() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19540::bigint << 48) $$;

-- The number of the next claim. The claims' lock must be held; `publish_batch` takes it. Numbers are consecutive
-- (except after a crash), so a daemon that knows one batch sees from the next one's number whether it missed another.
CREATE FUNCTION reminders.next_batch() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM reminders.batch
$$;

-- Notifies the daemons of a batch that was written.
CREATE FUNCTION reminders.publish_batch(p_batch bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('reminders.batch', p_batch);
    PERFORM pg_notify('letsswitch_claimed', p_batch::text);
END
$$;

-- Claims due tasks, at most p_limit (and 4,096), the longest due first, which opens the matches' rooms. Writes the
-- reminders. It is one statement, so a client that stops can't hold a claim. Tasks whose claim failed come when nothing
-- else is due.
CREATE FUNCTION reminders.claim_due(p_limit integer) RETURNS SETOF reminders.claimed_reminder
LANGUAGE plpgsql AS $$
DECLARE
    -- The largest value of seq.
    c_limit CONSTANT integer := 4096;
    v_now timestamptz;
    v_batch bigint;
BEGIN
    -- One claim at a time, so that a lower seq becomes visible first.
    PERFORM reminders.lock_claims();
    v_now := core.clock();
    v_batch := reminders.next_batch();

    WITH claimed AS (
        SELECT * FROM schedule.take_due(v_now, least(p_limit, c_limit))
    ),
    placed AS (
        SELECT
            claimed.task_id, claimed.starts_at,
            (v_batch << 12) + row_number() OVER (ORDER BY claimed.reminds_at, claimed.registered) - 1 AS seq
        FROM claimed
    ),
    written AS (
        INSERT INTO reminders.reminder (id, seq, task_id, starts_at, claimed_at, state)
        SELECT
            reminders.reminder_id(placed.seq, placed.task_id), placed.seq, placed.task_id, placed.starts_at, v_now,
            CASE WHEN placed.starts_at > v_now THEN 'pending' ELSE 'missed' END
        FROM placed
    )
    INSERT INTO reminders.claim (batch, closes_at, expires_at)
    SELECT v_batch, max(claimed.closes_at), min(claimed.starts_at) FILTER (WHERE claimed.starts_at > v_now)
    FROM claimed
    HAVING count(*) > 0;
    IF NOT FOUND THEN
        IF schedule.has_failed_due(v_now) THEN
            RETURN QUERY SELECT * FROM reminders.claim_each(p_limit);
        END IF;
        RETURN;
    END IF;
    PERFORM reminders.publish_batch(v_batch);
    PERFORM reminders.write_claimed(v_batch);
    -- A statement of its own, because it sees what earlier holders of the rows have committed: a match, a new title.
    RETURN QUERY SELECT * FROM reminders.claim_result(v_batch);
END
$$;

-- Claims due tasks one by one, including those whose next attempt is due. A failed one is retried later.
CREATE FUNCTION reminders.claim_each(p_limit integer) RETURNS SETOF reminders.claimed_reminder
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_batch bigint;
    v_place integer := 0;
    v_due record;
    v_claimed reminders.claimed_reminder;
    v_closes_at timestamptz;
    v_expires_at timestamptz;
BEGIN
    PERFORM reminders.lock_claims();
    v_now := core.clock();
    v_batch := reminders.next_batch();
    FOR v_due IN SELECT * FROM schedule.lock_due(v_now, least(p_limit, 4096)) LOOP
        BEGIN
            PERFORM schedule.delete_due(v_due.reminds_at, v_due.registered);
            INSERT INTO reminders.reminder (id, seq, task_id, starts_at, claimed_at, state)
            VALUES (
                reminders.reminder_id((v_batch << 12) + v_place, v_due.task_id), (v_batch << 12) + v_place,
                v_due.task_id, v_due.starts_at, v_now,
                CASE WHEN v_due.starts_at > v_now THEN 'pending' ELSE 'missed' END
            );
            -- A row that can't be read isn't sent.
            SELECT * INTO v_claimed FROM reminders.claimed_reminder AS claimed
            WHERE claimed.id = reminders.reminder_id((v_batch << 12) + v_place, v_due.task_id);
            v_place := v_place + 1;
            v_closes_at := greatest(v_closes_at, v_due.closes_at);
            IF v_due.starts_at > v_now THEN
                v_expires_at := least(v_expires_at, v_due.starts_at);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            IF core.is_transient_error(SQLSTATE) THEN
                RAISE;
            END IF;
            RAISE WARNING 'task % can''t be claimed: % (%)', v_due.task_id, SQLERRM, SQLSTATE;
            PERFORM schedule.postpone_due(v_due.reminds_at, v_due.registered, v_now);
        END;
    END LOOP;
    IF v_place = 0 THEN
        RETURN;
    END IF;
    INSERT INTO reminders.claim (batch, closes_at, expires_at) VALUES (v_batch, v_closes_at, v_expires_at);
    PERFORM reminders.publish_batch(v_batch);
    PERFORM reminders.write_claimed(v_batch);
    RETURN QUERY SELECT * FROM reminders.claim_result(v_batch);
END
$$;

-- When the scheduler has to act next: the earliest task to claim (or the next attempt of a failed one), and the
-- earliest reminder to mark as missed. Epoch seconds.
CREATE FUNCTION reminders.next_due(
    OUT due double precision, OUT expiry double precision, OUT now double precision
)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    due := extract(epoch FROM schedule.next_due_at());
    expiry := extract(epoch FROM (SELECT min(claim.expires_at) FROM reminders.claim) + interval '2 seconds');
    now := extract(epoch FROM core.clock());
END
$$;
