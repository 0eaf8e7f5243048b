-- Registering and cancelling tasks. Each request is one statement, and its result is a row of task_outcome.
--
-- The lock of an unclaimed task is its row in `due`. A claimed task has no such row: its lock is its reminder. To avoid
-- deadlocks, each kind of statement takes its locks in this order:
--
--   register    1. the device's lock  2. the slot  3. the `due` row of the device's own task  4. the `due` row of the
--               partner; after the lead the partner's reminder too
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

-- Registers a task and matches it, if another task waits for the same start. The slot is given as in resolve. p_lead,
-- p_horizon, p_room_duration, p_late_join and p_invite_hold are seconds. A device may have p_most open tasks; NULL
-- doesn't limit them, and then the device's lock isn't taken.
--
-- After the lead, and until p_late_join seconds after the start, a new task can only join a user who waits in a room
-- for a late partner. So can an existing task that was registered in time and has no partner. With p_invite_hold the
-- task waits for a guest until this many seconds before the lead. p_host is the task whose user has invited this
-- device. It becomes the partner, or the request is refused (registration_closed).
CREATE FUNCTION schedule.register_task(
    p_device text, p_title text, p_zone text,
    p_starts_at bigint, p_midnight bigint, p_day integer, p_time integer,
    p_lead double precision, p_horizon double precision, p_room_duration double precision,
    p_most integer DEFAULT NULL, p_late_join double precision DEFAULT 0, p_invite_hold double precision DEFAULT NULL,
    p_host uuid DEFAULT NULL
) RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_slot record;
    v_now timestamptz;
    v_id uuid;
    v_reminds_at timestamptz;
    v_task schedule.task;
    v_partner schedule.task;
    v_is_waiting boolean;
    v_was_free boolean;
    v_is_late boolean;
    v_is_open boolean;
    v_is_inviting boolean;
    -- The room of a user who had an absent partner, and gets this device as a late partner instead.
    v_left_room uuid;
BEGIN
    v_slot := schedule.resolve(p_zone, p_starts_at, p_midnight, p_day, p_time);
    IF v_slot.problem IS NOT NULL THEN
        v_outcome.code := v_slot.problem;
        RETURN v_outcome;
    END IF;

    IF p_most IS NOT NULL THEN
        PERFORM core.lock_device(p_device);
    END IF;
    PERFORM schedule.lock_slot(v_slot.starts_at);

    SELECT * INTO v_task FROM schedule.task WHERE device_id = p_device AND starts_at = v_slot.starts_at;
    IF v_task.id IS NOT NULL AND v_task.registered <= core.erased_up_to(p_device) THEN
        -- The device's old task is being erased. Its row would conflict with the new task, so it is erased now.
        PERFORM schedule.erase_tasks(ARRAY[v_task.id]);
        SELECT * INTO v_task FROM schedule.task WHERE device_id = p_device AND starts_at = v_slot.starts_at;
    END IF;
    IF FOUND THEN
        v_is_waiting := schedule.lock_if_waiting(v_task);
        SELECT * INTO v_task FROM schedule.task WHERE id = v_task.id AND device_id = p_device;
    END IF;
    IF FOUND THEN
        IF v_task.partner_id IS NOT NULL AND v_task.title <> p_title THEN
            -- The partner's reminder has this title. If the partner's claim comes later, it reads the new title. If it
            -- came before, the title can't change any more. Locking two `due` rows can't deadlock here: retitling
            -- either task locks the slot first, and claims skip locked rows.
            SELECT * INTO v_partner FROM schedule.task WHERE id = v_task.partner_id;
            IF v_partner.device_id IS NOT NULL AND NOT schedule.lock_if_waiting(v_partner) THEN
                v_is_waiting := false;
            END IF;
        END IF;
        v_now := core.clock();
        IF v_task.starts_at <= v_now AND v_now < v_task.starts_at + make_interval(secs => p_late_join)
            AND v_task.partner_id IS NULL AND v_task.waits_until IS NULL THEN
            RETURN schedule.join_late(v_task, p_title, p_late_join);
        END IF;
        IF v_task.starts_at <= v_now AND NOT (
            v_task.title = p_title AND v_task.partner_id IS NOT NULL
            AND v_now < v_task.starts_at + make_interval(secs => p_late_join)
            -- After a late match a client may not know that its request succeeded, and may repeat it. This can be the
            -- late user, the user who waited, or a user whose reminder was sent too early to name the partner.
            AND EXISTS (
                SELECT FROM schedule.task AS partner
                WHERE partner.id = v_task.partner_id AND (partner.was_dissolved OR partner.paired_at IS NOT NULL))
            AND (v_task.paired_at >= v_task.reminds_at OR NOT schedule.was_reminded(v_task.id, v_task.starts_at))
        ) THEN
            RETURN schedule.outcome('registration_closed', v_task, NULL);
        END IF;
        v_was_free := v_task.invites_until IS NULL;
        IF p_invite_hold IS NOT NULL AND v_task.partner_id IS NULL AND v_is_waiting AND v_task.reminds_at > v_now THEN
            v_task := schedule.invite_guest(v_task, p_invite_hold, v_now);
        END IF;
        IF v_task.title = p_title AND v_was_free AND v_task.invites_until IS NOT NULL THEN
            -- Other devices can't join the task any more.
            RETURN schedule.inviting_outcome('retitled', v_task, false);
        ELSIF v_task.title = p_title AND p_invite_hold IS NOT NULL THEN
            RETURN schedule.inviting_outcome('repeated', v_task, NULL);
        ELSIF v_task.title = p_title THEN
            RETURN schedule.outcome('repeated', v_task, NULL);
        ELSIF NOT v_is_waiting OR v_task.reminds_at < v_now THEN
            RETURN schedule.outcome('registration_closed', v_task, NULL);
        END IF;
        -- A task that was changed by hand no longer belongs to its series.
        UPDATE schedule.task SET title = p_title, series_id = NULL, series_day = NULL
        WHERE id = v_task.id RETURNING * INTO v_task;
        PERFORM schedule.write_task_event('task.retitled', v_task);
        IF p_invite_hold IS NOT NULL THEN
            RETURN schedule.inviting_outcome(
                'retitled', v_task, CASE WHEN v_was_free AND v_task.invites_until IS NOT NULL THEN false END);
        END IF;
        RETURN schedule.outcome('retitled', v_task, NULL);
    END IF;

    -- No other transaction makes a match in this slot now. Locking the row waits for a transaction that cancels, erases
    -- or claims the partner's task; the row is then gone.
    IF p_host IS NOT NULL THEN
        SELECT task.* INTO v_partner FROM schedule.task
        JOIN schedule.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.id = p_host AND task.starts_at = v_slot.starts_at AND task.partner_id IS NULL
        FOR UPDATE OF due;
    ELSIF p_invite_hold IS NULL AND EXISTS (
        -- Usually no other task waits, and the query below isn't needed.
        SELECT FROM schedule.task
        WHERE task.starts_at = v_slot.starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
    ) THEN
        SELECT task.* INTO v_partner FROM schedule.task
        JOIN schedule.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.starts_at = v_slot.starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
            AND task.device_id <> p_device
            AND NOT EXISTS (
                SELECT FROM core.erasure
                WHERE erasure.device_id = task.device_id AND erasure.up_to >= task.registered
                OFFSET 0
            )
            -- Two users can both wait here if one has blocked the other.
            AND NOT EXISTS (
                SELECT FROM core.block WHERE block.device_id = p_device AND block.blocked_id = task.device_id OFFSET 0
            )
            AND NOT EXISTS (
                SELECT FROM core.block WHERE block.device_id = task.device_id AND block.blocked_id = p_device OFFSET 0
            )
        ORDER BY
            EXISTS (
                SELECT FROM schedule.preference
                WHERE preference.device_id = p_device AND preference.preferred_id = task.device_id OFFSET 0
            )::integer
            + EXISTS (
                SELECT FROM schedule.preference
                WHERE preference.device_id = task.device_id AND preference.preferred_id = p_device OFFSET 0
            )::integer DESC,
            task.registered
        LIMIT 1
        FOR UPDATE OF due;
    END IF;

    -- Read only now: while this transaction waited for the locks, the lead may have begun.
    v_now := core.clock();
    v_reminds_at := v_slot.starts_at - make_interval(secs => p_lead);
    v_is_late := v_reminds_at < v_now;
    IF v_is_late AND p_host IS NULL AND v_now < v_slot.starts_at + make_interval(secs => p_late_join) THEN
        v_partner := schedule.late_partner(v_slot.starts_at, NULL, p_device);
    END IF;
    -- If the partner isn't claimed yet, its claim opens the room and writes the event.
    v_is_open := v_is_late AND NOT schedule.is_due(v_partner);
    IF v_is_late AND (v_partner.waits_until IS NULL OR p_host IS NOT NULL)
        OR p_host IS NOT NULL AND (v_partner.id IS NULL OR v_partner.reminds_at < v_now) THEN
        v_outcome.code := 'registration_closed';
        RETURN v_outcome;
    ELSIF v_slot.starts_at > v_now + make_interval(secs => p_horizon) THEN
        v_outcome.code := 'too_far_ahead';
        RETURN v_outcome;
    ELSIF schedule.has_open_tasks(p_device, p_most, v_now) THEN
        v_outcome.code := 'too_many_tasks';
        RETURN v_outcome;
    END IF;

    IF NOT v_is_late AND v_partner.reminds_at < v_now THEN
        -- The partner may be claimed at any moment, so the new task waits without a partner.
        v_partner := NULL;
    ELSIF v_partner.partner_id IS NOT NULL THEN
        v_left_room := v_partner.room_id;
        PERFORM schedule.leave_absent_partner(v_partner, p_late_join);
        v_partner := schedule.assign_match(
            v_partner, NULL, gen_random_uuid(), v_partner.closes_at, v_partner.waits_until, true);
    ELSIF v_is_late THEN
        PERFORM schedule.notify_partner_found(v_partner);
    END IF;
    IF schedule.schedulers_sleep_past(v_reminds_at, v_now) THEN
        PERFORM schedule.wake_schedulers(v_reminds_at);
    END IF;
    v_id := gen_random_uuid();
    v_is_inviting := p_invite_hold IS NOT NULL AND v_partner.id IS NULL;
    INSERT INTO schedule.task
        (id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at, partner_id,
         paired_at, invitation, invites_until)
    VALUES
        (v_id, p_device, p_title, v_slot.starts_at, v_reminds_at, p_zone, v_slot.start_time,
         coalesce(v_partner.room_id, gen_random_uuid()),
         coalesce(v_partner.closes_at, v_slot.starts_at + make_interval(secs => p_room_duration)), v_partner.id,
         CASE WHEN v_is_late THEN v_now END,
         CASE WHEN v_is_inviting THEN schedule.invitation_digest(schedule.invitation_token(v_id)) END,
         CASE WHEN v_is_inviting THEN schedule.holds_until(v_reminds_at, p_invite_hold, v_now) END)
    RETURNING * INTO v_task;
    INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
    VALUES (v_task.reminds_at, v_task.registered, v_task.id, v_task.starts_at, v_task.closes_at);
    IF v_partner.id IS NOT NULL THEN
        UPDATE schedule.task
        SET partner_id = v_task.id, waits_until = NULL, paired_at = CASE WHEN v_is_late THEN v_now END,
            invites_until = NULL, guest_id = CASE WHEN p_host IS NOT NULL THEN v_task.id ELSE task.guest_id END
        WHERE id = v_partner.id RETURNING * INTO v_partner;
    END IF;
    -- Checked once for both events, because most installations have no subscribers.
    IF core.has_subscribers() THEN
        PERFORM schedule.write_task_event('task.registered', v_task);
        IF v_task.partner_id IS NOT NULL THEN
            PERFORM schedule.write_match_event(v_task, v_is_open);
        END IF;
    END IF;
    IF v_left_room IS NOT NULL THEN
        PERFORM schedule.notify_rematched(v_partner, v_left_room);
    END IF;
    IF v_task.invitation IS NOT NULL THEN
        RETURN schedule.inviting_outcome('created', v_task, NULL);
    END IF;
    RETURN schedule.outcome('created', v_task, CASE WHEN NOT v_is_late THEN v_task.partner_id IS NULL END);
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
