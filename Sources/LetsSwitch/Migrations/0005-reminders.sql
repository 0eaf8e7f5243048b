-- Claiming what is due, and the outbox.

-- The event as every channel sends it: one line, because JSON escapes line breaks.
CREATE FUNCTION letsswitch.reminder_payload(
    p_id uuid, p_task uuid, p_title text, p_starts_at timestamptz, p_start_time text, p_zone text,
    p_room uuid, p_partner_title text
) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT '{"type":"reminder","id":"' || upper(p_id::text) || '","taskId":"' || upper(p_task::text)
        || '","title":' || to_json(p_title)::text
        || ',"startsAt":"' || to_char(p_starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        || '","startTime":"' || p_start_time || '","timeZone":' || to_json(p_zone)::text
        || CASE WHEN p_room IS NULL THEN '' ELSE ',"roomId":"' || upper(p_room::text) || '"' END
        || CASE WHEN p_partner_title IS NULL THEN '' ELSE ',"partnerTask":' || to_json(p_partner_title)::text END
        || '}'
$$;

CREATE TYPE letsswitch.firing AS (
    batch bigint,
    -- NULL: an erased person's half of a match, which opens the room and reminds nobody.
    reminder_id uuid,
    seq bigint,
    task_id uuid,
    device_id text,
    payload text,
    -- Epoch seconds.
    due double precision,
    fired_at double precision,
    starts_at bigint,
    -- NULL without a partner.
    room_id uuid,
    closes_at double precision,
    -- Whether closes_at was still ahead when the room should have opened.
    room_opened boolean,
    -- missed: the task had started already.
    state text
);

-- What a claim did, in firing order: for the daemons that were told of it by NOTIFY.
CREATE FUNCTION letsswitch.fired_batch(p_batch bigint) RETURNS SETOF letsswitch.firing
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    SELECT fired.* FROM (
        SELECT
            reminder.batch, reminder.id, reminder.seq, reminder.task_id, reminder.device_id, reminder.payload,
            extract(epoch FROM reminder.due)::double precision,
            extract(epoch FROM reminder.fired_at)::double precision,
            extract(epoch FROM reminder.starts_at)::bigint,
            reminder.room_id, extract(epoch FROM match.closes_at)::double precision,
            match.opened_at IS NOT NULL, reminder.state
        FROM letsswitch.reminder
        LEFT JOIN letsswitch.match ON match.room_id = reminder.room_id
        WHERE reminder.batch = p_batch
        UNION ALL
        SELECT
            match.batch, NULL, NULL, NULL, NULL, NULL,
            extract(epoch FROM match.opens_at)::double precision,
            extract(epoch FROM match.opened_at)::double precision,
            extract(epoch FROM match.starts_at)::bigint,
            match.room_id, extract(epoch FROM match.closes_at)::double precision,
            match.opened_at IS NOT NULL, NULL
        FROM letsswitch.match
        WHERE match.batch = p_batch AND NOT EXISTS (
            SELECT FROM letsswitch.task
            JOIN letsswitch.reminder ON reminder.id = task.reminder_id
            WHERE task.room_id = match.room_id AND reminder.batch = p_batch
        )
    ) AS fired
    ORDER BY fired.seq NULLS FIRST
$$;

-- Claims what is due, p_limit tasks at most, the longest due first: opens the matches' rooms for p_room_duration seconds
-- after the start, and writes the reminders. One statement: a client that stops can't hold a claim.
CREATE FUNCTION letsswitch.claim_due(p_limit integer, p_room_duration double precision)
RETURNS SETOF letsswitch.firing
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz;
    v_ids uuid[];
    v_batch bigint;
BEGIN
    -- One claim at a time: what has the lower seq is visible first.
    PERFORM pg_advisory_xact_lock(19540::bigint << 48);
    v_now := letsswitch.clock();

    -- A statement of its own: the next one then sees what those who held the rows before have committed (a pairing's match).
    SELECT array_agg(due.id) INTO v_ids FROM (
        SELECT task.id FROM letsswitch.task
        WHERE task.claimed_at IS NULL AND task.reminds_at <= v_now
        ORDER BY task.reminds_at, task.registered
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ) AS due;
    IF v_ids IS NULL THEN
        RETURN;
    END IF;
    v_batch := nextval('letsswitch.batch');

    UPDATE letsswitch.match SET
        closes_at = match.starts_at + make_interval(secs => p_room_duration),
        opened_at = CASE WHEN match.starts_at + make_interval(secs => p_room_duration) > v_now THEN v_now END,
        batch = v_batch
    WHERE match.closes_at IS NULL AND match.room_id IN (
        SELECT task.room_id FROM letsswitch.task WHERE task.id = ANY (v_ids)
    );

    WITH claimed AS (
        UPDATE letsswitch.task SET claimed_at = v_now WHERE task.id = ANY (v_ids) RETURNING task.*
    )
    INSERT INTO letsswitch.reminder
        (id, batch, task_id, device_id, due, fired_at, starts_at, room_id, payload, state)
    SELECT
        fresh.id, v_batch, fresh.task_id, fresh.device_id, fresh.reminds_at, v_now, fresh.starts_at, fresh.room,
        letsswitch.reminder_payload(
            fresh.id, fresh.task_id, fresh.title, fresh.starts_at, fresh.start_time, fresh.time_zone, fresh.room,
            fresh.partner_title
        ),
        CASE WHEN fresh.starts_at > v_now THEN 'pending' ELSE 'missed' END
    FROM (
        SELECT
            claimed.reminder_id AS id, claimed.id AS task_id, claimed.registered, claimed.device_id,
            claimed.reminds_at, claimed.starts_at, claimed.title, claimed.start_time, claimed.time_zone,
            CASE WHEN claimed.partner_id IS NOT NULL THEN claimed.room_id END AS room,
            partner.title AS partner_title
        FROM claimed
        LEFT JOIN letsswitch.task AS partner ON partner.id = claimed.partner_id
        WHERE claimed.device_id IS NOT NULL
    ) AS fresh
    ORDER BY fresh.reminds_at, fresh.registered;

    PERFORM pg_notify('letsswitch_fired', v_batch::text);
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
        (SELECT min(task.reminds_at) FROM letsswitch.task WHERE task.claimed_at IS NULL),
        (
            SELECT min(reminder.starts_at) FROM letsswitch.reminder WHERE reminder.state = 'pending'
        ) + interval '2 seconds'
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
    v_ids uuid[];
BEGIN
    SELECT array_agg(held.id) INTO v_ids FROM (
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.id = ANY (p_ids) AND reminder.state = 'pending'
        ORDER BY reminder.id
        FOR UPDATE
    ) AS held;
    RETURN QUERY
    UPDATE letsswitch.reminder SET state = 'delivered', delivered_at = v_now
    WHERE reminder.id = ANY (v_ids)
    RETURNING reminder.id;
END
$$;

-- Gives up what no channel took by the start; two seconds' grace, for acknowledgements that are under way.
CREATE FUNCTION letsswitch.expire_reminders() RETURNS TABLE (reminder_id uuid, task_id uuid)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_limit timestamptz := letsswitch.clock() - interval '2 seconds';
    v_ids uuid[];
BEGIN
    SELECT array_agg(late.id) INTO v_ids FROM (
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.state = 'pending' AND reminder.starts_at <= v_limit
        ORDER BY reminder.starts_at
        LIMIT 10000
        FOR UPDATE SKIP LOCKED
    ) AS late;
    RETURN QUERY
    UPDATE letsswitch.reminder SET state = 'missed' WHERE reminder.id = ANY (v_ids)
    RETURNING reminder.id, reminder.task_id;
END
$$;

-- The reminders among p_ids, in firing order.
CREATE FUNCTION letsswitch.fired(p_ids uuid[]) RETURNS SETOF letsswitch.firing
LANGUAGE sql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    SELECT
        reminder.batch, reminder.id, reminder.seq, reminder.task_id, reminder.device_id, reminder.payload,
        extract(epoch FROM reminder.due)::double precision,
        extract(epoch FROM reminder.fired_at)::double precision,
        extract(epoch FROM reminder.starts_at)::bigint,
        reminder.room_id, extract(epoch FROM match.closes_at)::double precision,
        match.opened_at IS NOT NULL, reminder.state
    FROM letsswitch.reminder
    LEFT JOIN letsswitch.match ON match.room_id = reminder.room_id
    WHERE reminder.id = ANY (p_ids)
    ORDER BY reminder.seq
$$;

-- A device's reminders whose task has not started yet, in firing order, after the one that it saw last. An id that is not
-- one of its own excludes none.
CREATE FUNCTION letsswitch.reminders_of(p_device text, p_last uuid) RETURNS SETOF letsswitch.firing
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_last bigint;
BEGIN
    SELECT reminder.seq INTO v_last FROM letsswitch.reminder
    WHERE reminder.id = p_last AND reminder.device_id = p_device;
    RETURN QUERY SELECT * FROM letsswitch.fired(ARRAY(
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.device_id = p_device AND reminder.starts_at > v_now AND reminder.seq > coalesce(v_last, 0)
    ));
END
$$;

-- What is out and not yet delivered, in firing order: for the channels of a daemon that starts.
CREATE FUNCTION letsswitch.pending_reminders(p_limit integer) RETURNS SETOF letsswitch.firing
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    RETURN QUERY SELECT * FROM letsswitch.fired(ARRAY(
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.state = 'pending' AND reminder.starts_at > v_now
        ORDER BY reminder.seq
        LIMIT p_limit
    ));
END
$$;
