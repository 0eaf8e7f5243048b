-- Claiming tasks that are due.

-- Takes the claims' lock until the end of the transaction: only one transaction at a time claims tasks.
CREATE FUNCTION reminders.lock_claims() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19540::bigint << 48) $$;

-- Delays claims until the end of the transaction. Many transactions can hold this lock at once. They must be short.
CREATE FUNCTION reminders.lock_claims_shared() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(19540::bigint << 48) $$;

-- Returns the number of the next claim. The caller holds the claims' lock; publish_batch uses up the number. Numbers
-- are consecutive, except after a crash. A daemon that knows one batch therefore sees from the number of the next one
-- whether it has missed a batch.
CREATE FUNCTION reminders.next_batch() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM reminders.batch
$$;

-- Uses up the number of a batch that was written, and notifies the daemons of it.
CREATE FUNCTION reminders.publish_batch(p_batch bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('reminders.batch', p_batch);
    PERFORM pg_notify('letsswitch_claimed', p_batch::text);
END
$$;

-- Claims tasks that are due, the longest due first: at most p_limit, and at most 4,096. A claim writes the reminders
-- and opens the rooms of matches. It is one statement, so a client that stops can't hold a claim open. Tasks whose
-- claim has failed before are only tried when no other task is due. Returns the reminders.
CREATE FUNCTION reminders.claim_due(p_limit integer) RETURNS SETOF reminders.claimed_reminder
LANGUAGE plpgsql AS $$
DECLARE
    -- The number of places in a batch: seq has twelve bits for the place.
    c_limit CONSTANT integer := 4096;
    v_now timestamptz;
    v_batch bigint;
BEGIN
    -- Only one claim at a time, so that reminders become visible in the order of seq.
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
    -- A separate statement, because it sees what earlier holders of the rows have committed: a match or a new title.
    RETURN QUERY SELECT * FROM reminders.claim_result(v_batch);
END
$$;

-- Claims tasks one by one, including those whose next attempt is due. If the claim of a task fails, only this task is
-- postponed. Returns the reminders.
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
            -- If the reminder can't be read, this statement fails, and the task isn't claimed.
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

-- Returns when the scheduler has to act next: when the next task is due (or the next attempt of a failed claim), and
-- when the next reminder has to be marked as missed. Instants are epoch seconds.
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
