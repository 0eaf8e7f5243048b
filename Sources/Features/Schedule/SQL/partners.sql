-- Cancelling a matched task, and matching its partner again. moves.sql has the moves to another slot.
--
-- A statement that changes matches first locks the slot (of two slots the earlier one first). It then locks the `due`
-- rows of the tasks in order of start, and the reminders of claimed tasks in order of id. Registering does the same,
-- but locks a reminder only for a late match.
--
-- Cancelling, claiming, erasing, delivering and deleting old tasks don't lock the slot. They wait for the locked rows
-- or come first, and their changes are visible once the rows are locked. If such a change makes the chosen partner
-- wrong, the statement fails with SQLSTATE 40001, and the daemon repeats it.

-- Whether a device has this task, and it isn't being erased.
CREATE FUNCTION schedule.has_task(p_device text, p_task uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM schedule.visible_task AS own WHERE own.id = p_task AND own.device_id = p_device)
$$;

-- Returns the partner's device and task for one of a device's own tasks. Returns no row if the task has no partner, or
-- if the partner was erased.
CREATE FUNCTION schedule.partner_of(p_device text, p_task uuid)
RETURNS TABLE (device_id text, title text, starts_at timestamptz)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT partner.device_id, partner.title, partner.starts_at FROM schedule.task AS own
    JOIN schedule.visible_task AS partner ON partner.id = own.partner_id
    WHERE own.id = p_task AND own.device_id = p_device AND partner.device_id IS NOT NULL
$$;

-- Returns the device of the partner in one of a device's own tasks. Returns NULL if the task has no partner, or if the
-- partner was erased.
CREATE FUNCTION schedule.partner_device(p_device text, p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$ SELECT partner.device_id FROM schedule.partner_of(p_device, p_task) AS partner $$;

-- Returns which of the two partners has asked for a conversation, as a device sees it. Returns no row if the device
-- doesn't have this task. Locks the match's requests until the end of the transaction, so that the second of two
-- simultaneous requests sees the first.
CREATE FUNCTION schedule.asking_of(p_device text, p_task uuid) RETURNS TABLE (
    starts_at timestamptz,
    -- NULL: the task has no partner, or the partner was erased.
    partner_device text,
    -- Whether this device has asked its partner for a conversation, and whether the partner has asked this device.
    has_asked boolean, partner_has_asked boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_task schedule.task;
BEGIN
    SELECT * INTO v_task FROM schedule.task AS own WHERE own.id = p_task AND own.device_id = p_device;
    IF NOT FOUND OR v_task.registered <= core.erased_up_to(p_device) THEN
        RETURN;
    END IF;
    PERFORM schedule.lock_match(v_task.room_id);
    RETURN QUERY
    SELECT v_task.starts_at, visible.device_id, v_task.asked_id IS NOT DISTINCT FROM v_task.partner_id,
        task.asked_id IS NOT DISTINCT FROM v_task.id
    FROM (SELECT) AS one
    LEFT JOIN schedule.task ON task.id = v_task.partner_id
    LEFT JOIN schedule.visible_task AS visible ON visible.id = task.id;
END
$$;

-- Records that the user of a task has asked the current partner for a conversation.
CREATE FUNCTION schedule.ask_partner(p_task uuid) RETURNS void
LANGUAGE sql AS $$ UPDATE schedule.task SET asked_id = task.partner_id WHERE task.id = p_task $$;

-- Locks the slot of a device's task, and the slot p_other if it isn't NULL, the earlier one first. Returns the task.
-- Returns NULL if the device doesn't have the task, or if the task is being erased.
CREATE FUNCTION schedule.lock_task(p_device text, p_id uuid, p_other timestamptz DEFAULT NULL) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task;
    v_starts_at timestamptz;
BEGIN
    SELECT task.starts_at INTO v_starts_at FROM schedule.task WHERE task.id = p_id AND task.device_id = p_device;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM schedule.lock_slot(least(v_starts_at, p_other));
    IF p_other <> v_starts_at THEN
        PERFORM schedule.lock_slot(greatest(v_starts_at, p_other));
    END IF;
    SELECT * INTO v_task FROM schedule.task WHERE task.id = p_id AND task.device_id = p_device;
    IF v_task.starts_at <> v_starts_at THEN
        RAISE 'the task was moved meanwhile' USING ERRCODE = 'serialization_failure';
    ELSIF v_task.registered <= core.erased_up_to(p_device) THEN
        RETURN NULL;
    END IF;
    RETURN v_task;
END
$$;

-- Locks the `due` rows of these tasks in order of start, then the reminders of claimed tasks, until the end of the
-- transaction. The caller has locked the slots.
CREATE FUNCTION schedule.lock_tasks(p_tasks uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM (
        SELECT task.reminds_at, task.registered FROM schedule.task
        WHERE task.id = ANY (p_tasks) ORDER BY task.starts_at, task.registered OFFSET 0
    ) AS own
    CROSS JOIN LATERAL (
        SELECT FROM schedule.due
        WHERE due.reminds_at = own.reminds_at AND due.registered = own.registered
        FOR UPDATE
    ) AS held;
    -- A separate statement after the wait, because it sees the tasks that were claimed in the meantime.
    PERFORM schedule.lock_reminders(p_tasks);
END
$$;

-- Returns a task after it was locked. If p_must_be_free is true and the task is gone or has a partner now, the
-- transaction fails, and another partner is chosen when the daemon repeats the statement.
CREATE FUNCTION schedule.lock_chosen_task(p_id uuid, p_must_be_free boolean) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task;
BEGIN
    SELECT * INTO v_task FROM schedule.task WHERE task.id = p_id;
    IF p_must_be_free AND p_id IS NOT NULL AND (v_task.id IS NULL OR v_task.partner_id IS NOT NULL) THEN
        RAISE 'the waiting task has a partner now' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN v_task;
END
$$;

-- Returns a task's device. Returns NULL if the device was erased, or if there is no such task.
CREATE FUNCTION schedule.device_of(p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT task.device_id FROM schedule.task WHERE task.id = p_task
$$;

-- Returns the task that is the next partner in a slot. Returns NULL if no task waits. The task p_except is left out,
-- and so are tasks that wait for a guest, tasks of absent users, and tasks with a block between their device and
-- p_device.
--
-- Before the start, every task without a partner waits. After the start, or if p_only_dissolved is true, only tasks
-- with waits_until in the future do, because their partner left after the lead. Users in a room come first, then
-- preferred partners, then the order of registration.
CREATE FUNCTION schedule.waiting_task(
    p_starts_at timestamptz, p_except uuid, p_device text, p_only_dissolved boolean
) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN (
        SELECT task.id FROM schedule.task
        WHERE task.starts_at = p_starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
            AND task.id IS DISTINCT FROM p_except
            AND (task.waits_until > v_now OR NOT p_only_dissolved AND p_starts_at > v_now) AND NOT task.is_absent
            -- A room that has closed is never chosen. An operator may have closed it early.
            AND task.closes_at > v_now
            AND NOT EXISTS (
                SELECT FROM core.erasure
                WHERE erasure.device_id = task.device_id AND erasure.up_to >= task.registered
                OFFSET 0
            )
            AND NOT core.is_blocked(p_device, task.device_id)
        ORDER BY
            schedule.is_room_occupied(task) DESC, schedule.preferences_between(p_device, task.device_id) DESC,
            task.registered
        LIMIT 1
    );
END
$$;

-- Deletes a locked task with its `due` row, reminder and attendance.
CREATE FUNCTION schedule.drop_task(p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM schedule.delete_progress(p_task);
    DELETE FROM schedule.task WHERE task.id = p_task.id;
END
$$;

-- Deletes a locked task's `due` row, reminder and attendance.
CREATE FUNCTION schedule.delete_progress(p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM schedule.due WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered;
    PERFORM schedule.delete_reminders(ARRAY[p_task.id], ARRAY[p_task.starts_at]);
    DELETE FROM core.attendance WHERE attendance.room_id = p_task.room_id AND attendance.task_id = p_task.id;
    DELETE FROM core.presence WHERE presence.room_id = p_task.room_id AND presence.task_id = p_task.id;
END
$$;

-- Gives a locked task a partner and a room. p_partner is NULL for no partner. Copies the attendance of the old room to
-- the new one. Returns the task.
CREATE FUNCTION schedule.assign_match(
    p_task schedule.task, p_partner uuid, p_room uuid, p_closes_at timestamptz, p_waits_until timestamptz,
    p_was_dissolved boolean
) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task;
BEGIN
    IF p_partner IS NOT NULL THEN
        PERFORM schedule.notify_partner_found(p_task);
    END IF;
    UPDATE schedule.task SET
        partner_id = p_partner, room_id = p_room, closes_at = p_closes_at, waits_until = p_waits_until, is_absent = false,
        -- An earlier move to another room is no longer sent to clients. If this statement moves the task, its caller
        -- sends the new move.
        invites_until = NULL, rematched_at = NULL,
        paired_at = CASE WHEN p_partner IS NOT NULL THEN core.clock() END,
        was_dissolved = task.was_dissolved OR p_was_dissolved
    WHERE task.id = p_task.id RETURNING * INTO v_task;
    IF p_closes_at <> p_task.closes_at THEN
        UPDATE schedule.due SET closes_at = p_closes_at
        WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered;
    END IF;
    IF p_room <> p_task.room_id THEN
        INSERT INTO core.attendance
            (room_id, task_id, closes_at, joined_at, changed_at, present, visits, most_peers)
        SELECT p_room, task_id, p_closes_at, joined_at, changed_at, 0, 0, 0 FROM core.attendance
        WHERE attendance.room_id = p_task.room_id AND attendance.task_id = p_task.id
        ON CONFLICT (room_id, task_id) DO NOTHING;
    END IF;
    RETURN v_task;
END
$$;

-- Removes p_task from its match with p_partner. The partner's task is matched with p_waiting, or gets no partner if
-- p_waiting is NULL. All three tasks are locked. Returns the partner's task. If the partner was erased, deletes the
-- partner's task and returns NULL. The caller deletes or moves p_task.
CREATE FUNCTION schedule.leave_match(
    p_task schedule.task, p_partner schedule.task, p_waiting schedule.task, p_late_join double precision
) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_stays schedule.task;
    v_other schedule.task := p_waiting;
    v_is_claimed boolean := NOT schedule.is_due(p_partner);
    v_was_open boolean := v_is_claimed OR NOT schedule.is_due(p_task);
    v_is_kept boolean := core.has_unnamed_members(p_task.room_id);
    v_room uuid;
    v_closes_at timestamptz;
BEGIN
    PERFORM core.write_event(
        'match.ended', p_task.device_id, schedule.match_tasks(p_task.id, p_partner.id), p_task.room_id, p_task.starts_at);
    IF p_partner.device_id IS NULL THEN
        PERFORM schedule.drop_task(p_partner);
        PERFORM schedule.dissolve_room(p_task.room_id);
        RETURN NULL;
    END IF;
    IF p_partner.registered <= core.erased_up_to(p_partner.device_id)
        OR v_is_kept AND core.has_unnamed_members(v_other.room_id) THEN
        v_other := NULL;
    END IF;
    IF v_other.id IS NULL THEN
        v_stays := schedule.assign_match(
            p_partner, NULL, CASE WHEN v_is_kept THEN p_partner.room_id ELSE gen_random_uuid() END, p_partner.closes_at,
            -- After the lead, the task can only be joined late, whether it is claimed or not.
            CASE WHEN v_is_claimed OR p_partner.reminds_at <= core.clock()
                THEN p_task.starts_at + make_interval(secs => p_late_join) END, true);
    ELSE
        v_room := CASE WHEN v_is_kept THEN p_partner.room_id ELSE v_other.room_id END;
        v_closes_at := CASE WHEN v_is_kept THEN p_partner.closes_at ELSE v_other.closes_at END;
        PERFORM schedule.notify_claimed(v_other);
        v_stays := schedule.assign_match(p_partner, v_other.id, v_room, v_closes_at, NULL, true);
        PERFORM schedule.assign_match(v_other, p_partner.id, v_room, v_closes_at, NULL, false);
        IF v_other.waits_until IS NULL AND NOT schedule.is_due(v_other) THEN
            -- The waiting task's reminder named no room.
            PERFORM schedule.notify_rematched(task, NULL) FROM schedule.task WHERE task.id = v_other.id;
        END IF;
        IF v_room <> v_other.room_id THEN
            PERFORM schedule.dissolve_room(v_other.room_id);
        END IF;
        PERFORM schedule.write_match_event(v_stays, v_is_claimed OR NOT schedule.is_due(v_other));
    END IF;
    IF NOT v_is_kept AND v_was_open THEN
        PERFORM schedule.dissolve_room(p_task.room_id);
    END IF;
    PERFORM schedule.notify_partner_changed(v_stays);
    RETURN v_stays;
END
$$;

-- Notifies all daemons of the days that these outcomes have changed, in the format of the daemons' own notifications.
-- It is sent with the commit, because the partner must be notified even if the daemon loses the answer: a repeated
-- request changes nothing, and so wouldn't notify. Only rare statements use this function. With a NOTIFY in each
-- registration, all commits would wait for each other.
CREATE FUNCTION schedule.notify_changes(p_outcomes schedule.task_outcome[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('letsswitch_schedule', json_build_object('origin', '', 'changes', json_agg(json_build_object(
        'startsAt', changed.starts_at,
        'devices', changed.devices,
        'all', changed.concerns_all
    )))::text)
    FROM (
        SELECT outcome.starts_at, array_agg(DISTINCT own.device) FILTER (WHERE own.device IS NOT NULL) AS devices,
            bool_or(outcome.slot_opened IS NOT NULL) AS concerns_all
        FROM unnest(p_outcomes) AS outcome
        CROSS JOIN LATERAL (VALUES (outcome.device_id), (outcome.partner_device)) AS own (device)
        WHERE outcome.id IS NOT NULL
        GROUP BY outcome.starts_at
    ) AS changed;
END
$$;

-- Notifies all daemons that these slots (epoch seconds) have changed for all readers of the day. One notification has
-- 100 slots, so that they fit into its payload.
CREATE FUNCTION schedule.notify_slots(p_starts bigint[]) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_notify('letsswitch_schedule', json_build_object('origin', '', 'changes', json_agg(json_build_object(
        'startsAt', own.start, 'devices', '[]'::json, 'all', true)))::text)
    FROM unnest(p_starts) WITH ORDINALITY AS own (start, place)
    GROUP BY own.place / 100
$$;

-- Cancels a task with or without a partner, until p_late_join seconds after the start. The first row is the task as it
-- was (left), or the refusal (no_such_task, registration_closed). If the task had a partner, a second row has the
-- partner's task as it is now (stayed).
CREATE FUNCTION schedule.leave_task(p_device text, p_id uuid, p_late_join double precision)
RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_task schedule.task := schedule.lock_task(p_device, p_id);
    v_partner schedule.task;
    v_waiting schedule.task;
    v_is_due boolean;
    v_left schedule.task_outcome;
    v_stayed schedule.task_outcome;
BEGIN
    IF v_task.id IS NOT NULL THEN
        IF v_task.partner_id IS NOT NULL THEN
            v_waiting.id := schedule.waiting_task(
                v_task.starts_at, v_task.id, schedule.device_of(v_task.partner_id), false);
        END IF;
        PERFORM schedule.lock_tasks(ARRAY[v_task.id, v_task.partner_id, v_waiting.id]);
        SELECT * INTO v_task FROM schedule.task WHERE task.id = p_id AND task.device_id = p_device;
    END IF;
    IF v_task.id IS NULL THEN
        v_outcome.code := 'no_such_task';
        RETURN NEXT v_outcome;
        RETURN;
    END IF;
    v_partner := schedule.lock_chosen_task(v_task.partner_id, false);
    v_waiting := schedule.lock_chosen_task(v_waiting.id, true);
    IF v_task.starts_at + make_interval(secs => p_late_join) <= core.clock() THEN
        RETURN NEXT schedule.outcome('registration_closed', v_task, NULL);
        RETURN;
    END IF;
    v_is_due := schedule.is_due(v_task);
    v_left := schedule.outcome(
        'left', v_task,
        CASE WHEN v_is_due AND v_task.partner_id IS NULL AND v_task.invites_until IS NULL THEN false END);
    RETURN NEXT v_left;
    IF v_partner.id IS NOT NULL THEN
        v_partner := schedule.leave_match(v_task, v_partner, v_waiting, p_late_join);
    ELSIF v_task.waits_until IS NOT NULL THEN
        PERFORM schedule.dissolve_room(v_task.room_id);
    END IF;
    PERFORM schedule.drop_task(v_task);
    PERFORM schedule.write_task_event('task.cancelled', v_task);
    IF v_partner.id IS NOT NULL THEN
        v_stayed := schedule.outcome(
            'stayed', v_partner, CASE WHEN schedule.is_due(v_partner) THEN v_partner.partner_id IS NULL END);
        RETURN NEXT v_stayed;
    END IF;
    PERFORM schedule.notify_changes(ARRAY[v_left, v_stayed]);
END
$$;

-- Locks the slots in which either of two devices waits for a partner, in order of time, and then these waiting tasks.
-- Returns the starts of these slots. Until the end of the transaction neither device can register there, so neither can
-- still see a block that this transaction removes.
CREATE FUNCTION schedule.lock_waiting_starts(p_device text, p_other text) RETURNS timestamptz[]
LANGUAGE plpgsql AS $$
DECLARE
    v_slots timestamptz[] := ARRAY(
        SELECT DISTINCT task.starts_at FROM schedule.task
        WHERE task.device_id IN (p_device, p_other) AND task.starts_at > core.clock() AND task.partner_id IS NULL
            -- Tasks that are being erased are left out: the erasure locks them, and this transaction mustn't wait for
            -- it while it holds the lock of a slot.
            AND task.registered > core.erased_up_to(task.device_id)
        ORDER BY task.starts_at);
    v_slot timestamptz;
BEGIN
    FOREACH v_slot IN ARRAY v_slots LOOP
        PERFORM schedule.lock_slot(v_slot);
    END LOOP;
    PERFORM schedule.lock_tasks(ARRAY(
        SELECT task.id FROM schedule.task
        WHERE task.device_id IN (p_device, p_other) AND task.starts_at = ANY (v_slots) AND task.partner_id IS NULL
            AND task.registered > core.erased_up_to(task.device_id)));
    RETURN v_slots;
END
$$;

-- Matches two devices in the slots p_slots in which both wait, after the block between them was removed.
-- lock_waiting_starts has locked these slots. Only slots that haven't started are used, before and after the lead.
-- After the start, rematch_slot matches the waiting tasks.
CREATE FUNCTION schedule.match_unblocked(p_device text, p_other text, p_slots timestamptz[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_pair record;
    v_moves schedule.task;
    v_stays schedule.task;
    v_is_claimed boolean;
BEGIN
    FOR v_pair IN
        SELECT own, other FROM schedule.task AS own
        JOIN schedule.task AS other ON other.device_id = p_other AND other.starts_at = own.starts_at
        WHERE own.device_id = p_device AND own.starts_at = ANY (p_slots) AND own.starts_at > core.clock()
            AND own.partner_id IS NULL AND own.invites_until IS NULL AND own.closes_at > core.clock()
            AND other.partner_id IS NULL AND other.invites_until IS NULL AND other.closes_at > core.clock()
            AND own.registered > core.erased_up_to(p_device) AND other.registered > core.erased_up_to(p_other)
        ORDER BY own.starts_at
    LOOP
        v_moves := v_pair.own;
        v_stays := v_pair.other;
        -- A user who can't be moved to another room keeps the room. Otherwise the user who may already be in a room
        -- keeps it.
        IF core.has_unnamed_members(v_moves.room_id)
            OR v_stays.waits_until IS NULL AND NOT core.has_unnamed_members(v_stays.room_id) THEN
            v_moves := v_pair.other;
            v_stays := v_pair.own;
        END IF;
        CONTINUE WHEN core.has_unnamed_members(v_moves.room_id);
        v_is_claimed := NOT schedule.is_due(v_moves) OR NOT schedule.is_due(v_stays);
        PERFORM schedule.match_waiting(v_moves, v_stays, v_is_claimed);
        IF v_is_claimed THEN
            -- Their reminders named no room, or a different one.
            PERFORM schedule.notify_rematched(
                task, CASE WHEN task.id = v_moves.id AND v_moves.waits_until IS NOT NULL THEN v_moves.room_id END)
            FROM schedule.task WHERE task.id IN (v_moves.id, v_stays.id);
            PERFORM schedule.notify_claimed(v_moves);
            PERFORM schedule.notify_claimed(v_stays);
        END IF;
        PERFORM schedule.notify_changes(ARRAY[schedule.outcome(
            'stayed', task, CASE WHEN NOT v_is_claimed THEN false END)])
        FROM schedule.task WHERE task.id = v_stays.id;
    END LOOP;
END
$$;

-- Whether a device has a task that hasn't started, and that is claimed or may be claimed before this transaction ends
-- (due within 15 seconds).
CREATE FUNCTION schedule.is_reminded_soon(p_device text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN EXISTS (
        SELECT FROM schedule.task
        WHERE task.device_id = p_device AND task.starts_at > v_now AND task.reminds_at < v_now + interval '15 seconds'
    );
END
$$;
