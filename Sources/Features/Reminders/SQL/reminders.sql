-- The reminders of claimed tasks: their ids, states, and what daemons read of them.

-- Returns a reminder's id, which is a UUID of version 8. The first half has the reminder's seq: 48 bits for the batch
-- and 12 for the place. The second half is the second half of the task's id, which is random.
CREATE FUNCTION reminders.reminder_id(p_seq bigint, p_task uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
    SELECT (
        lpad(to_hex(((p_seq >> 12) << 16) + 32768 + (p_seq & 4095)), 16, '0') || substr(p_task::text, 20)
    )::uuid
$$;

-- Returns a value below every id of a batch, and above every id of the batch before.
CREATE FUNCTION reminders.first_reminder_id(p_batch bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(p_batch << 16), 16, '0') || '0000000000000000')::uuid
$$;

-- The reminders as daemons read them. Instants are epoch seconds. They use date_part, because extract computes decimals
-- and is slower.
CREATE VIEW reminders.claimed_reminder AS
SELECT
    reminder.id,
    reminder.seq,
    reminder.seq >> 12 AS batch,
    -- NULL: the user was erased. The task still opens the room for its partner, but has no reminder.
    CASE WHEN task.device_id IS NOT NULL THEN reminder.id END AS reminder_id,
    reminder.task_id,
    task.device_id,
    task.title,
    task.start_time,
    task.time_zone,
    partner.title AS partner_task,
    date_part('epoch', task.reminds_at) AS due,
    date_part('epoch', reminder.claimed_at) AS claimed_at,
    date_part('epoch', reminder.starts_at)::bigint AS starts_at,
    -- NULL: the task has no partner.
    CASE WHEN task.partner_id IS NOT NULL THEN task.room_id END AS room_id,
    date_part('epoch', task.closes_at) AS closes_at,
    -- Whether the claim has opened a room: the task has a partner, and the room hadn't closed by then.
    task.partner_id IS NOT NULL AND task.closes_at > reminder.claimed_at AS room_opened,
    -- A reminder that was claimed after the task's start is missed from the beginning.
    reminder.state
FROM reminders.reminder
JOIN schedule.visible_task AS task ON task.id = reminder.task_id
LEFT JOIN schedule.visible_task AS partner ON partner.id = task.partner_id;

-- Returns the reminders of one claim in order, for daemons that were notified of it.
CREATE FUNCTION reminders.claim_result(p_batch bigint) RETURNS SETOF reminders.claimed_reminder
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_from uuid := reminders.first_reminder_id(p_batch);
    v_until uuid := reminders.first_reminder_id(p_batch + 1);
BEGIN
    RETURN QUERY
    SELECT * FROM reminders.claimed_reminder AS claimed
    WHERE claimed.id > v_from AND claimed.id < v_until ORDER BY claimed.id;
END
$$;

-- Returns the reminders of the claims after p_after up to p_until, in order.
CREATE FUNCTION reminders.claim_results(p_after bigint, p_until bigint) RETURNS SETOF reminders.claimed_reminder
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_from uuid := reminders.first_reminder_id(p_after + 1);
    v_until uuid := reminders.first_reminder_id(p_until + 1);
BEGIN
    RETURN QUERY
    SELECT * FROM reminders.claimed_reminder AS claimed
    WHERE claimed.id > v_from AND claimed.id < v_until ORDER BY claimed.id;
END
$$;

-- Whether a reminder exists.
CREATE FUNCTION reminders.has_reminder(p_id uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$ SELECT EXISTS (SELECT FROM reminders.reminder WHERE reminder.id = p_id) $$;

-- Marks reminders that a provider has accepted as delivered. Returns those that were still pending.
CREATE FUNCTION reminders.mark_delivered(p_ids uuid[]) RETURNS TABLE (reminder_id uuid)
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_rows tid[];
BEGIN
    SELECT array_agg(held.ctid) INTO v_rows FROM (
        SELECT reminder.ctid FROM reminders.reminder
        WHERE reminder.id = ANY (p_ids) AND reminder.state = 'pending'
        ORDER BY reminder.id
        FOR UPDATE
    ) AS held;
    -- Locked rows keep their ctid until they are updated.
    RETURN QUERY
    UPDATE reminders.reminder SET state = 'delivered', delivered_at = v_now
    WHERE reminder.ctid = ANY (v_rows)
    RETURNING reminder.id;
END
$$;

-- Marks reminders as missed if no provider has accepted them two seconds after the start. The two seconds are for
-- acknowledgements that are still under way. Locked rows are handled by the next call. A batch that can't be written is
-- retried after a minute, and other batches continue. Returns the missed reminders of users who aren't erased.
CREATE FUNCTION reminders.expire_reminders() RETURNS TABLE (reminder_id uuid, task_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_limit timestamptz := core.clock() - interval '2 seconds';
    v_batch bigint;
    v_from uuid;
    v_until uuid;
BEGIN
    FOR v_batch IN
        SELECT claim.batch FROM reminders.claim
        WHERE claim.expires_at <= v_limit
        ORDER BY claim.expires_at
        LIMIT 10
        FOR UPDATE SKIP LOCKED
    LOOP
        BEGIN
            v_from := reminders.first_reminder_id(v_batch);
            v_until := reminders.first_reminder_id(v_batch + 1);
            RETURN QUERY
            WITH missed AS (
                UPDATE reminders.reminder SET state = 'missed' WHERE reminder.ctid = ANY (ARRAY(
                    SELECT late.ctid FROM reminders.reminder AS late
                    WHERE late.id > v_from AND late.id < v_until
                        AND late.state = 'pending' AND late.starts_at <= v_limit
                    FOR UPDATE SKIP LOCKED
                ))
                RETURNING reminder.id, reminder.task_id
            )
            SELECT missed.id, missed.task_id FROM missed
            JOIN schedule.visible_task AS task ON task.id = missed.task_id
            WHERE task.device_id IS NOT NULL;
            UPDATE reminders.claim SET expires_at = (
                SELECT min(reminder.starts_at) FROM reminders.reminder
                WHERE reminder.id > v_from AND reminder.id < v_until AND reminder.state = 'pending'
            )
            WHERE claim.batch = v_batch;
        EXCEPTION WHEN OTHERS THEN
            IF core.is_transient_error(SQLSTATE) THEN
                RAISE;
            END IF;
            RAISE WARNING 'batch % can''t be expired: % (%)', v_batch, SQLERRM, SQLSTATE;
            UPDATE reminders.claim SET expires_at = v_limit + interval '1 minute' WHERE claim.batch = v_batch;
        END;
    END LOOP;
END
$$;

-- Returns a device's reminders whose tasks haven't started, in the order of claims: the first p_limit with a seq above
-- p_after.
CREATE FUNCTION reminders.reminders_of(p_device text, p_after bigint, p_limit integer) RETURNS SETOF reminders.claimed_reminder
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
    -- No reminder exists for a later start. With this limit only the device's next tasks are read, and not those of the
    -- next three months.
    v_last timestamptz := (SELECT max(reminder.starts_at) FROM reminders.reminder);
    v_ids uuid[];
BEGIN
    SELECT array_agg(first.id) INTO v_ids FROM (
        SELECT own.id FROM schedule.tasks_of(p_device, v_now, v_last) AS task
        -- LIMIT prevents the planner from reading the reminders of all devices first.
        CROSS JOIN LATERAL (
            SELECT reminder.id, reminder.seq FROM reminders.reminder
            WHERE reminder.starts_at = task.starts_at AND reminder.task_id = task.id
            LIMIT 1
        ) AS own
        WHERE own.seq > p_after
        ORDER BY own.seq
        LIMIT p_limit
    ) AS first;
    IF v_ids IS NOT NULL THEN
        RETURN QUERY SELECT * FROM reminders.claimed_reminder AS claimed WHERE claimed.id = ANY (v_ids) ORDER BY claimed.id;
    END IF;
END
$$;

-- Returns the rooms that are open now, for a daemon that starts. It reads the claims, because a task has the time when
-- its room closes, but not whether the room was opened.
CREATE FUNCTION reminders.open_rooms() RETURNS TABLE (room_id uuid, closes_at double precision)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN QUERY
    SELECT DISTINCT task.room_id, extract(epoch FROM task.closes_at)::double precision
    FROM reminders.claim
    CROSS JOIN LATERAL (
        SELECT reminder.task_id FROM reminders.reminder
        WHERE reminder.id > reminders.first_reminder_id(claim.batch) AND reminder.id < reminders.first_reminder_id(claim.batch + 1)
        OFFSET 0
    ) AS claimed
    JOIN schedule.visible_task AS task ON task.id = claimed.task_id
    WHERE claim.closes_at > v_now AND (task.partner_id IS NOT NULL OR task.waits_until IS NOT NULL) AND task.closes_at > v_now;
END
$$;
