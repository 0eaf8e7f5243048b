-- Cancelling a matched task, and matching the remaining partner again. For moves to another slot see moves.sql.
--
-- A statement that changes matches locks the slot (of two slots the earlier one first), then the `due` rows of its
-- tasks in order of start, then the reminders of claimed tasks in order of id. Registering does the same, and needs no
-- reminder except that of a user whose partner left. Cancelling, claiming, erasing, delivering and purging don't lock
-- the slot: they are before or after, and their changes are visible once the rows are locked. If that changes the
-- choice of partners, the statement fails with 40001, and the daemon repeats it.

-- Whether a device has this task.
CREATE FUNCTION schedule.has_task(p_device text, p_task uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM schedule.visible_task AS own WHERE own.id = p_task AND own.device_id = p_device)
$$;

-- The partner in a device's own task, and the partner's task; no row without a partner, or if the partner was erased.
CREATE FUNCTION schedule.partner_of(p_device text, p_task uuid)
RETURNS TABLE (device_id text, title text, starts_at timestamptz)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT partner.device_id, partner.title, partner.starts_at FROM schedule.task AS own
    JOIN schedule.visible_task AS partner ON partner.id = own.partner_id
    WHERE own.id = p_task AND own.device_id = p_device AND partner.device_id IS NOT NULL
$$;

-- The partner's device in a device's own task; NULL without a partner, or if the partner was erased.
CREATE FUNCTION schedule.partner_device(p_device text, p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$ SELECT partner.device_id FROM schedule.partner_of(p_device, p_task) AS partner $$;

-- What the two partners of a match have asked of each other, as a device sees it; no row if it doesn't have this task. The
-- match is locked until the end of the transaction, so the second to ask sees that the first has.
CREATE FUNCTION schedule.asking_of(p_device text, p_task uuid) RETURNS TABLE (
    starts_at timestamptz,
    -- NULL without a partner, or if the partner was erased.
    partner_device text,
    -- Whether this device has asked the partner for a conversation, and whether the partner has asked it.
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

-- Stores that the user of a task has asked the current partner for a conversation.
CREATE FUNCTION schedule.ask_partner(p_task uuid) RETURNS void
LANGUAGE sql AS $$ UPDATE schedule.task SET asked_id = task.partner_id WHERE task.id = p_task $$;

-- A device's task, its slot locked, and another slot with it; NULL when there is none.
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

-- Holds tasks until the end of the transaction, whether they wait for their claim or not. Their slots are locked.
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
    -- After the wait, because it sees the tasks that were claimed meanwhile.
    PERFORM schedule.lock_reminders(p_tasks);
END
$$;

-- A chosen task, read again after it was locked. If the intended partner isn't free any more, another one has to be
-- chosen.
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

-- A task's device; NULL if it was erased.
CREATE FUNCTION schedule.device_of(p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT task.device_id FROM schedule.task WHERE task.id = p_task
$$;

-- The task in a slot that waits for a partner, other than this task and those with a block between them and p_device;
-- NULL if there is none. Until the start that is any task without a partner; after it, or with p_only_dissolved, only tasks
-- whose partner left after the lead. Users in a room come first, then preferred partners, then the order of
-- registration. Tasks that wait for a guest are excluded.
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
            -- A room that is over is never chosen; an operator may have closed it, too.
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

-- Deletes a task that is held.
CREATE FUNCTION schedule.drop_task(p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM schedule.delete_progress(p_task);
    DELETE FROM schedule.task WHERE task.id = p_task.id;
END
$$;

-- Deletes a locked task's `due` row, its reminder and its attendance.
CREATE FUNCTION schedule.delete_progress(p_task schedule.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM schedule.due WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered;
    PERFORM schedule.delete_reminders(ARRAY[p_task.id], ARRAY[p_task.starts_at]);
    DELETE FROM core.attendance WHERE attendance.room_id = p_task.room_id AND attendance.task_id = p_task.id;
    DELETE FROM core.presence WHERE presence.room_id = p_task.room_id AND presence.task_id = p_task.id;
END
$$;

-- Gives a locked task a partner, or none, and a room. Its attendance in the old room is kept. Returns the task.
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
        -- An earlier move to another room is no longer announced. A statement that moves the task now announces it
        -- again.
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

-- Removes a task from its match. The partner gets the waiting task as its new partner, or none (NULL); all three are locked. Returns the
-- partner's task; NULL if its user was erased, since it is deleted then. The caller deletes or moves the task itself.
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
            -- After the lead, claimed or not, it can't be joined as usual.
            CASE WHEN v_is_claimed OR p_partner.reminds_at <= core.clock()
                THEN p_task.starts_at + make_interval(secs => p_late_join) END, true);
    ELSE
        v_room := CASE WHEN v_is_kept THEN p_partner.room_id ELSE v_other.room_id END;
        v_closes_at := CASE WHEN v_is_kept THEN p_partner.closes_at ELSE v_other.closes_at END;
        PERFORM schedule.notify_claimed(v_other);
        v_stays := schedule.assign_match(p_partner, v_other.id, v_room, v_closes_at, NULL, true);
        PERFORM schedule.assign_match(v_other, p_partner.id, v_room, v_closes_at, NULL, false);
        IF v_other.waits_until IS NULL AND NOT schedule.is_due(v_other) THEN
            -- Its reminder knew of no room.
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

-- Notifies every daemon of the days that have changed, in the form of its own events. It is in the transaction, because
-- a remaining partner must be notified even if the answer is lost, and a repetition changes nothing. These statements
-- are rare. With a NOTIFY in every registration all commits would wait for each other.
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

-- Notifies every daemon that these slots (epoch seconds) have changed for all who look at them. A hundred fit into a payload.
CREATE FUNCTION schedule.notify_slots(p_starts bigint[]) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_notify('letsswitch_schedule', json_build_object('origin', '', 'changes', json_agg(json_build_object(
        'startsAt', own.start, 'devices', '[]'::json, 'all', true)))::text)
    FROM unnest(p_starts) WITH ORDINALITY AS own (start, place)
    GROUP BY own.place / 100
$$;

-- Cancels a task, also a matched one and also after the lead, until p_late_join seconds after the start. The first row
-- is the task as it was (left), or the refusal; the second, if there was a partner, is the partner's task as it is now
-- (stayed).
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

-- Locks the starts for which either waits for a partner, and their tasks, so that nobody registers there meanwhile and
-- still sees a block that is being removed. Returns these starts.
CREATE FUNCTION schedule.lock_waiting_starts(p_device text, p_other text) RETURNS timestamptz[]
LANGUAGE plpgsql AS $$
DECLARE
    v_slots timestamptz[] := ARRAY(
        SELECT DISTINCT task.starts_at FROM schedule.task
        WHERE task.device_id IN (p_device, p_other) AND task.starts_at > core.clock() AND task.partner_id IS NULL
            -- Tasks that are being erased are locked by the erasure, and not waited for while a slot is locked.
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

-- After a block is removed: matches the two wherever both wait, in the slots that lock_waiting_starts has locked. Only
-- before the start, also after the lead; from the start on rematch_slot matches those who wait.
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
        -- A user who can't be moved to another room stays; otherwise one who is already in a room stays.
        IF core.has_unnamed_members(v_moves.room_id)
            OR v_stays.waits_until IS NULL AND NOT core.has_unnamed_members(v_stays.room_id) THEN
            v_moves := v_pair.other;
            v_stays := v_pair.own;
        END IF;
        CONTINUE WHEN core.has_unnamed_members(v_moves.room_id);
        v_is_claimed := NOT schedule.is_due(v_moves) OR NOT schedule.is_due(v_stays);
        PERFORM schedule.match_waiting(v_moves, v_stays, v_is_claimed);
        IF v_is_claimed THEN
            -- Their reminders knew of no room, or of another.
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

-- Whether a task of the device that hasn't started may have been claimed, or be claimed before this transaction ends.
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
