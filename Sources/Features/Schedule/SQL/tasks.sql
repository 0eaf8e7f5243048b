-- The results of requests for tasks, and cancelling a task. Each request is one statement, and its result is a row of
-- task_outcome.
--
-- The lock of an unclaimed task is its row in `due`. A claimed task has no such row: its lock is its reminder. To avoid
-- deadlocks, each kind of statement takes its locks in this order:
--
--   register    registration.sql: 1. the device's lock  2. the slot  3. the `due` row of the device's own task
--               4. the `due` row of the partner; after the lead the partner's reminder too
--   cancel      the `due` row of the task
--   leave       partners.sql: 1. the slot  2. the `due` rows of the task, its partner and the waiting task, in order of
--               start  3. their reminders in order of id
--   unblock     partners.sql: 1. all slots in order of time  2. like leave, for all tasks of the two devices that wait
--   rematch     absence.sql: like leave, for all tasks that wait in the slot
--   accept      invitations.sql: 1. the device's lock  2. the slot  3. the `due` rows of the host's task and the
--               device's own task  4. the locks of register
--   lapse       invitations.sql: 1. the slot  2. like leave, for the inviting task and the waiting task
--   move        moves.sql: 1. the device's lock  2. both slots, the earlier one first  3. the `due` rows of the tasks
--               in both slots, in order of start  4. their reminders in order of id
--   series      series.sql: 1. the device's lock  2. the row of the series  3. the locks of register, move or cancel,
--               for all its slots in order of time
--   erase       1. the device's `erasure` row  2. its series  3. the `due` rows of its tasks in order of start
--               4. reminders, then addresses, each in order of id; at most 500 tasks per transaction
--   claim       1. the claims' lock  2. `due` rows; locked ones are skipped
--   deliver     reminders, conversations, deliveries, addresses, each in order of id
--   expire      1. claims  2. reminders; locked ones of both are skipped
--   delete_old  1. reminders; locked ones are skipped  2. their tasks  3. claims; locked ones are skipped
--   attendance  1. attendance in order of room and task  2. presence; also at the end of register, leave, move, erase
--
-- A claim doesn't wait for an erasure: it skips the tasks of that device. Registering doesn't wait for an erasure
-- either, because a user who is being erased doesn't become a partner.
--
-- Taking a lock and deciding by the locked rows are two statements. Only the second statement sees what earlier holders
-- of the lock have committed.

-- What other users may see of a task. While the task's user is being erased, device_id and title are NULL.
CREATE VIEW schedule.visible_task AS
SELECT
    task.id, task.registered,
    CASE WHEN erasure.device_id IS NULL THEN task.device_id END AS device_id,
    CASE WHEN erasure.device_id IS NULL THEN task.title END AS title,
    task.starts_at, task.reminds_at, task.time_zone, task.start_time, task.room_id, task.closes_at, task.partner_id,
    task.waits_until, task.notified_at
FROM schedule.task
LEFT JOIN core.erasure ON erasure.device_id = task.device_id AND erasure.up_to >= task.registered;

-- Returns a device's own tasks that start after p_after and not after p_until. Tasks that are being erased are left
-- out.
CREATE FUNCTION schedule.tasks_of(p_device text, p_after timestamptz, p_until timestamptz) RETURNS SETOF schedule.task
LANGUAGE sql STABLE AS $$
    SELECT * FROM schedule.task
    WHERE task.device_id = p_device AND task.starts_at > p_after AND task.starts_at <= p_until
        AND task.registered > coalesce((SELECT erasure.up_to FROM core.erasure WHERE erasure.device_id = p_device), 0)
$$;

-- The result of a request for a task.
CREATE TYPE schedule.task_outcome AS (
    -- Success: created, repeated, retitled, cancelled, left, stayed, moved. Refusal: registration_closed,
    -- too_far_ahead, too_many_tasks, no_such_task, has_partner, slot_taken, far_from_midnight, skipped_time,
    -- no_such_invitation, invitation_used, own_invitation. The other columns have the task, unless the request was
    -- refused before the task was found.
    code text,
    id uuid,
    device_id text,
    title text,
    start_time text,
    time_zone text,
    starts_at bigint,
    reminds_at double precision,
    room_id uuid,
    is_paired boolean,
    partner_title text,
    -- The partner's device, whose day has changed too. It is never shown to a client.
    partner_device text,
    -- Whether other devices can join the slot now. NULL: that hasn't changed.
    slot_opened boolean,
    -- The task's series. NULL: the task belongs to no series.
    series_id uuid,
    -- The token with which a guest may become the partner. NULL: no token was requested, or the task has a partner.
    invitation text
);

-- Returns a result with this code, the task, and what its user may see of the partner.
CREATE FUNCTION schedule.outcome(p_code text, p_task schedule.task, p_slot_opened boolean)
RETURNS schedule.task_outcome
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_partner_title text;
    v_partner_device text;
BEGIN
    IF p_task.partner_id IS NOT NULL THEN
        SELECT partner.title, partner.device_id INTO v_partner_title, v_partner_device
        FROM schedule.visible_task AS partner
        WHERE partner.id = p_task.partner_id;
    END IF;
    -- One ROW expression, because assigning each column separately costs as much as the whole expression each time.
    RETURN ROW(
        p_code, p_task.id, p_task.device_id, p_task.title, p_task.start_time, p_task.time_zone,
        extract(epoch FROM p_task.starts_at)::bigint, extract(epoch FROM p_task.reminds_at)::double precision, p_task.room_id,
        p_task.partner_id IS NOT NULL, v_partner_title, v_partner_device, p_slot_opened, p_task.series_id, NULL
    )::schedule.task_outcome;
END
$$;

-- Whether a device has at least p_most open tasks; false if p_most is NULL. The caller holds lock_device, so the answer
-- stays true until the end of the transaction.
CREATE FUNCTION schedule.has_open_tasks(p_device text, p_most integer, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_most IS NULL THEN
        RETURN false;
    END IF;
    RETURN p_most <= (
        SELECT count(*) FROM (
            SELECT FROM schedule.task
            WHERE task.device_id = p_device AND task.starts_at > p_now
                -- Tasks that are being erased don't count, although their rows still exist.
                AND task.registered > coalesce(
                    (SELECT erasure.up_to FROM core.erasure WHERE erasure.device_id = p_device), 0)
            LIMIT p_most
        ) AS open
    );
END
$$;

-- Cancels a task without a partner. The task is given by its id, or by its slot if p_id is NULL. Result codes:
-- cancelled, no_such_task, has_partner, registration_closed, far_from_midnight, skipped_time.
CREATE FUNCTION schedule.cancel_task(
    p_device text, p_id uuid, p_zone text,
    p_starts_at bigint, p_midnight bigint, p_day integer, p_time integer
) RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_slot record;
    v_task schedule.task;
    v_registered bigint;
    v_is_waiting boolean;
BEGIN
    IF p_id IS NOT NULL THEN
        SELECT * INTO v_task FROM schedule.task WHERE id = p_id AND device_id = p_device;
    ELSE
        v_slot := schedule.resolve(p_zone, p_starts_at, p_midnight, p_day, p_time);
        IF v_slot.problem IS NOT NULL THEN
            v_outcome.code := v_slot.problem;
            RETURN v_outcome;
        END IF;
        SELECT * INTO v_task FROM schedule.task WHERE device_id = p_device AND starts_at = v_slot.starts_at;
    END IF;
    -- Waits for a transaction that matches or claims the task.
    IF FOUND THEN
        v_registered := v_task.registered;
        v_is_waiting := schedule.lock_if_waiting(v_task);
        SELECT * INTO v_task FROM schedule.task WHERE id = v_task.id AND device_id = p_device;
        IF v_task.registered <> v_registered THEN
            RAISE 'the task was moved meanwhile' USING ERRCODE = 'serialization_failure';
        END IF;
    END IF;
    IF NOT FOUND OR v_task.registered <= core.erased_up_to(p_device) THEN
        v_outcome.code := 'no_such_task';
        RETURN v_outcome;
    ELSIF v_task.partner_id IS NOT NULL THEN
        RETURN schedule.outcome('has_partner', v_task, NULL);
    ELSIF NOT v_is_waiting OR v_task.reminds_at <= core.clock() THEN
        RETURN schedule.outcome('registration_closed', v_task, NULL);
    END IF;
    DELETE FROM schedule.due WHERE reminds_at = v_task.reminds_at AND registered = v_task.registered;
    DELETE FROM schedule.task WHERE id = v_task.id;
    PERFORM schedule.write_task_event('task.cancelled', v_task);
    RETURN schedule.outcome('cancelled', v_task, CASE WHEN v_task.invites_until IS NULL THEN false END);
END
$$;
