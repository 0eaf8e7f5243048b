-- Claiming what is due, and the outbox.

-- The event as every channel sends it: one line, because JSON escapes line breaks.
CREATE FUNCTION letsswitch.reminder_payload(
    p_id uuid, p_task uuid, p_title text, p_starts_at timestamptz, p_start_time text, p_zone text,
    p_room uuid, p_partner_title text
) RETURNS text
LANGUAGE sql STABLE AS $$
    -- Upper case by the bytes, without asking the database's language.
    SELECT '{"type":"reminder","id":"' || upper(p_id::text COLLATE "C")
        || '","taskId":"' || upper(p_task::text COLLATE "C")
        || '","title":' || to_json(p_title)::text
        || ',"startsAt":"' || to_char(p_starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        || '","startTime":"' || p_start_time || '","timeZone":' || to_json(p_zone)::text
        || CASE WHEN p_room IS NULL THEN '' ELSE ',"roomId":"' || upper(p_room::text COLLATE "C") || '"' END
        || CASE WHEN p_partner_title IS NULL THEN '' ELSE ',"partnerTask":' || to_json(p_partner_title)::text END
        || '}'
$$;

-- A reminder's id: its seq in the first half (UUID version 8: 48 bits of batch, 12 of place), its task's randomness in
-- the second.
CREATE FUNCTION letsswitch.reminder_id(p_seq bigint, p_task uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
    SELECT (
        lpad(to_hex(((p_seq >> 12) << 16) + 32768 + (p_seq & 4095)), 16, '0') || substr(p_task::text, 20)
    )::uuid
$$;

-- Less than every id of a batch, and more than those of the one before.
CREATE FUNCTION letsswitch.first_id(p_batch bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(p_batch << 16), 16, '0') || '0000000000000000')::uuid
$$;

-- The outbox as it is read. Instants are epoch seconds (by date_part: extract would count them in decimal first).
CREATE VIEW letsswitch.fired AS
SELECT
    reminder.id,
    reminder.seq,
    reminder.seq >> 12 AS batch,
    -- NULL: an erased person's half of a match, which opens the room and reminds nobody.
    CASE WHEN task.device_id IS NOT NULL THEN reminder.id END AS reminder_id,
    reminder.task_id,
    task.device_id,
    CASE WHEN task.device_id IS NOT NULL THEN letsswitch.reminder_payload(
        reminder.id, task.id, task.title, task.starts_at, task.start_time, task.time_zone,
        CASE WHEN task.partner_id IS NOT NULL THEN task.room_id END, partner.title
    ) END AS payload,
    date_part('epoch', task.reminds_at) AS due,
    date_part('epoch', reminder.fired_at) AS fired_at,
    date_part('epoch', reminder.starts_at)::bigint AS starts_at,
    -- NULL without a partner.
    CASE WHEN task.partner_id IS NOT NULL THEN task.room_id END AS room_id,
    date_part('epoch', task.closes_at) AS closes_at,
    -- Whether closes_at was still ahead when the room should have opened.
    task.partner_id IS NOT NULL AND task.closes_at > reminder.fired_at AS room_opened,
    -- missed from the beginning: the task had started already.
    reminder.state
FROM letsswitch.reminder
JOIN letsswitch.task ON task.id = reminder.task_id
LEFT JOIN letsswitch.task AS partner ON partner.id = task.partner_id;

-- What a claim did, in firing order: for the daemons that were told of it by NOTIFY.
CREATE FUNCTION letsswitch.fired_batch(p_batch bigint) RETURNS SETOF letsswitch.fired
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_from uuid := letsswitch.first_id(p_batch);
    v_until uuid := letsswitch.first_id(p_batch + 1);
BEGIN
    RETURN QUERY
    SELECT * FROM letsswitch.fired WHERE fired.id > v_from AND fired.id < v_until ORDER BY fired.id;
END
$$;

-- Claims what is due, p_limit tasks at most (and 4,096), the longest due first: that opens the matches' rooms. Writes the
-- reminders. One statement: a client that stops can't hold a claim.
CREATE FUNCTION letsswitch.claim_due(p_limit integer) RETURNS SETOF letsswitch.fired
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
    v_batch := nextval('letsswitch.batch');

    WITH claimed AS (
        DELETE FROM letsswitch.due WHERE due.ctid = ANY (ARRAY(
            SELECT free.ctid FROM letsswitch.due AS free
            WHERE free.reminds_at <= v_now
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
        RETURN;
    END IF;
    PERFORM pg_notify('letsswitch_fired', v_batch::text);
    -- A statement of its own, which sees what those who held the rows before have committed: a pairing, a new title.
    RETURN QUERY SELECT * FROM letsswitch.fired_batch(v_batch);
END
$$;

-- When the scheduler has to look again: the earliest task to claim, or the earliest reminder to give up. Epoch seconds.
CREATE FUNCTION letsswitch.next_due(OUT due double precision, OUT now double precision)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
BEGIN
    due := extract(epoch FROM least(
        (SELECT min(waiting.reminds_at) FROM letsswitch.due AS waiting),
        (SELECT min(claim.expires_at) FROM letsswitch.claim) + interval '2 seconds'
    ));
    now := extract(epoch FROM letsswitch.clock());
END
$$;

-- A channel took them. Returns those that were pending still.
CREATE FUNCTION letsswitch.mark_delivered(p_ids uuid[]) RETURNS TABLE (reminder_id uuid)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_rows tid[];
BEGIN
    SELECT array_agg(held.ctid) INTO v_rows FROM (
        SELECT reminder.ctid FROM letsswitch.reminder
        WHERE reminder.id = ANY (p_ids) AND reminder.state = 'pending'
        ORDER BY reminder.id
        FOR UPDATE
    ) AS held;
    -- Nobody moves them while they are held.
    RETURN QUERY
    UPDATE letsswitch.reminder SET state = 'delivered', delivered_at = v_now
    WHERE reminder.ctid = ANY (v_rows)
    RETURNING reminder.id;
END
$$;

-- Gives up what no channel took by the start; two seconds' grace, for acknowledgements that are under way. What somebody
-- holds stays for the next time.
CREATE FUNCTION letsswitch.expire_reminders() RETURNS TABLE (reminder_id uuid, task_id uuid)
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
    END LOOP;
END
$$;

-- A device's reminders whose task has not started yet, in firing order, after the one that it saw last. An id that is not
-- one of its own excludes none.
CREATE FUNCTION letsswitch.reminders_of(p_device text, p_last uuid) RETURNS SETOF letsswitch.fired
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_last bigint;
    v_ids uuid[];
BEGIN
    SELECT reminder.seq INTO v_last FROM letsswitch.reminder
    JOIN letsswitch.task ON task.id = reminder.task_id
    WHERE reminder.id = p_last AND task.device_id = p_device;
    -- From its tasks that are ahead: they are few. LIMIT keeps the planner from beginning with everybody's reminders.
    SELECT array_agg(own.id) INTO v_ids FROM letsswitch.task
    CROSS JOIN LATERAL (
        SELECT reminder.id, reminder.seq FROM letsswitch.reminder
        WHERE reminder.starts_at = task.starts_at AND reminder.task_id = task.id
        LIMIT 1
    ) AS own
    WHERE task.device_id = p_device AND task.starts_at > v_now AND own.seq > coalesce(v_last, 0);
    IF v_ids IS NOT NULL THEN
        RETURN QUERY SELECT * FROM letsswitch.fired WHERE fired.id = ANY (v_ids) ORDER BY fired.id;
    END IF;
END
$$;

-- The rooms that are open now, for a daemon that starts. From the claims: the tasks know when a room closes, but not that
-- it was opened.
CREATE FUNCTION letsswitch.open_rooms() RETURNS TABLE (room_id uuid, closes_at double precision)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    RETURN QUERY
    SELECT DISTINCT task.room_id, extract(epoch FROM task.closes_at)::double precision
    FROM letsswitch.claim
    CROSS JOIN LATERAL (
        SELECT reminder.task_id FROM letsswitch.reminder
        WHERE reminder.id > letsswitch.first_id(claim.batch) AND reminder.id < letsswitch.first_id(claim.batch + 1)
        OFFSET 0
    ) AS fired
    JOIN letsswitch.task ON task.id = fired.task_id
    WHERE claim.closes_at > v_now AND task.partner_id IS NOT NULL AND task.closes_at > v_now;
END
$$;
