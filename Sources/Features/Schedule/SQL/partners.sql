-- Cancelling a matched task, and matching the remaining partner again. For moves to another slot see moves.sql.
--
-- A statement that changes matches locks the slot (of two slots the earlier one first), then the `due` rows of its
-- tasks in order of start, then the reminders of claimed tasks in order of id. Registering does the same, and needs no
-- reminder except that of a user whose partner left. Cancelling, claiming, erasing, delivering and purging don't lock
-- the slot: they are before or after, and their changes are visible once the rows are locked. If that changes the
-- choice of partners, the statement fails with 40001, and the daemon repeats it.

-- A device's task, its slot locked, and another slot with it; NULL when there is none.
CREATE FUNCTION letsswitch.lock_task(p_device text, p_id uuid, p_other timestamptz DEFAULT NULL) RETURNS letsswitch.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task letsswitch.task;
    v_starts_at timestamptz;
BEGIN
    SELECT task.starts_at INTO v_starts_at FROM letsswitch.task WHERE task.id = p_id AND task.device_id = p_device;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM letsswitch.lock_slot(least(v_starts_at, p_other));
    IF p_other <> v_starts_at THEN
        PERFORM letsswitch.lock_slot(greatest(v_starts_at, p_other));
    END IF;
    SELECT * INTO v_task FROM letsswitch.task WHERE task.id = p_id AND task.device_id = p_device;
    IF v_task.starts_at <> v_starts_at THEN
        RAISE 'the task was moved meanwhile' USING ERRCODE = 'serialization_failure';
    ELSIF v_task.registered <= letsswitch.erased_up_to(p_device) THEN
        RETURN NULL;
    END IF;
    RETURN v_task;
END
$$;

-- Holds tasks until the end of the transaction, whether they wait for their claim or not. Their slots are locked.
CREATE FUNCTION letsswitch.lock_tasks(p_tasks uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM (
        SELECT task.reminds_at, task.registered FROM letsswitch.task
        WHERE task.id = ANY (p_tasks) ORDER BY task.starts_at, task.registered OFFSET 0
    ) AS own
    CROSS JOIN LATERAL (
        SELECT FROM letsswitch.due
        WHERE due.reminds_at = own.reminds_at AND due.registered = own.registered
        FOR UPDATE
    ) AS held;
    -- A statement of its own, because it sees the tasks that were claimed meanwhile.
    PERFORM FROM letsswitch.reminder WHERE reminder.id = ANY (ARRAY(
        SELECT claimed.id FROM (
            SELECT task.id, task.starts_at FROM letsswitch.task WHERE task.id = ANY (p_tasks) OFFSET 0
        ) AS own
        CROSS JOIN LATERAL (
            SELECT reminder.id FROM letsswitch.reminder
            WHERE reminder.starts_at = own.starts_at AND reminder.task_id = own.id
            OFFSET 0
        ) AS claimed
    ))
    ORDER BY reminder.id FOR UPDATE;
END
$$;

-- A chosen task, read again after it was locked. If the intended partner isn't free any more, another one has to be
-- chosen.
CREATE FUNCTION letsswitch.lock_chosen_task(p_id uuid, p_must_be_free boolean) RETURNS letsswitch.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task letsswitch.task;
BEGIN
    SELECT * INTO v_task FROM letsswitch.task WHERE task.id = p_id;
    IF p_must_be_free AND p_id IS NOT NULL AND (v_task.id IS NULL OR v_task.partner_id IS NOT NULL) THEN
        RAISE 'the waiting task has a partner now' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN v_task;
END
$$;

-- A task's device; NULL if it was erased.
CREATE FUNCTION letsswitch.device_of(p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT task.device_id FROM letsswitch.task WHERE task.id = p_task
$$;

-- The task in a slot that waits for a partner, other than this task and those with a block between them and p_device;
-- NULL if there is none. Until the start that is any task without a partner; after it, or with p_only_dissolved, only tasks
-- whose partner left after the lead. Users in a room come first, then preferred partners, then the order of
-- registration. Tasks that wait for a guest are excluded.
CREATE FUNCTION letsswitch.waiting_task(
    p_starts_at timestamptz, p_except uuid, p_device text, p_only_dissolved boolean
) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    RETURN (
        SELECT task.id FROM letsswitch.task
        WHERE task.starts_at = p_starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
            AND task.id IS DISTINCT FROM p_except
            AND (task.waits_until > v_now OR NOT p_only_dissolved AND p_starts_at > v_now) AND NOT task.is_absent
            -- A room that is over is never chosen; an operator may have closed it, too.
            AND task.closes_at > v_now
            AND NOT EXISTS (
                SELECT FROM letsswitch.erasure
                WHERE erasure.device_id = task.device_id AND erasure.up_to >= task.registered
                OFFSET 0
            )
            AND NOT letsswitch.is_blocked(p_device, task.device_id)
        ORDER BY
            letsswitch.is_room_occupied(task) DESC, letsswitch.preferences_between(p_device, task.device_id) DESC,
            task.registered
        LIMIT 1
    );
END
$$;

-- Whether the task waits for its claim.
CREATE FUNCTION letsswitch.is_due(p_task letsswitch.task) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM letsswitch.due WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered)
$$;

-- Whether somebody in the room didn't name a task, as the published app doesn't. Such a member can't be moved to
-- another room.
CREATE FUNCTION letsswitch.has_unnamed_peers(p_room uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM letsswitch.attendance
        WHERE attendance.room_id = p_room AND attendance.task_id IS NULL AND attendance.present > 0)
$$;

-- Deletes a task that is held.
CREATE FUNCTION letsswitch.drop_task(p_task letsswitch.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM letsswitch.delete_progress(p_task);
    DELETE FROM letsswitch.task WHERE task.id = p_task.id;
END
$$;

-- Deletes a locked task's `due` row, its reminder and its attendance.
CREATE FUNCTION letsswitch.delete_progress(p_task letsswitch.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM letsswitch.due WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered;
    DELETE FROM letsswitch.reminder WHERE reminder.starts_at = p_task.starts_at AND reminder.task_id = p_task.id;
    DELETE FROM letsswitch.attendance WHERE attendance.room_id = p_task.room_id AND attendance.task_id = p_task.id;
    DELETE FROM letsswitch.presence WHERE presence.room_id = p_task.room_id AND presence.task_id = p_task.id;
END
$$;

-- Gives a locked task a partner, or none, and a room. Its attendance in the old room is kept. Returns the task.
CREATE FUNCTION letsswitch.assign_match(
    p_task letsswitch.task, p_partner uuid, p_room uuid, p_closes_at timestamptz, p_waits_until timestamptz,
    p_was_dissolved boolean
) RETURNS letsswitch.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task letsswitch.task;
BEGIN
    IF p_partner IS NOT NULL THEN
        PERFORM letsswitch.notify_partner_found(p_task);
    END IF;
    UPDATE letsswitch.task SET
        partner_id = p_partner, room_id = p_room, closes_at = p_closes_at, waits_until = p_waits_until, is_absent = false,
        -- An earlier move to another room is no longer announced. A statement that moves the task now announces it
        -- again.
        invites_until = NULL, rematched_at = NULL,
        paired_at = CASE WHEN p_partner IS NOT NULL THEN letsswitch.clock() END,
        was_dissolved = task.was_dissolved OR p_was_dissolved
    WHERE task.id = p_task.id RETURNING * INTO v_task;
    IF p_closes_at <> p_task.closes_at THEN
        UPDATE letsswitch.due SET closes_at = p_closes_at
        WHERE due.reminds_at = p_task.reminds_at AND due.registered = p_task.registered;
    END IF;
    IF p_room <> p_task.room_id THEN
        INSERT INTO letsswitch.attendance
            (room_id, task_id, closes_at, joined_at, changed_at, present, visits, most_peers)
        SELECT p_room, task_id, p_closes_at, joined_at, changed_at, 0, 0, 0 FROM letsswitch.attendance
        WHERE attendance.room_id = p_task.room_id AND attendance.task_id = p_task.id
        ON CONFLICT (room_id, task_id) DO NOTHING;
    END IF;
    RETURN v_task;
END
$$;

-- Ends a room early. Daemons that have it open close it.
CREATE FUNCTION letsswitch.dissolve_room(p_room uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM letsswitch.write_dissolved_event(p_room);
    PERFORM pg_notify('letsswitch_dissolved', p_room::text);
END
$$;

-- Removes a task from its match. The partner gets the waiting task as its new partner, or none (NULL); all three are locked. Returns the
-- partner's task; NULL if its user was erased, since it is deleted then. The caller deletes or moves the task itself.
CREATE FUNCTION letsswitch.leave_match(
    p_task letsswitch.task, p_partner letsswitch.task, p_waiting letsswitch.task, p_late_join double precision
) RETURNS letsswitch.task
LANGUAGE plpgsql AS $$
DECLARE
    v_stays letsswitch.task;
    v_other letsswitch.task := p_waiting;
    v_is_claimed boolean := NOT letsswitch.is_due(p_partner);
    v_was_open boolean := v_is_claimed OR NOT letsswitch.is_due(p_task);
    v_is_kept boolean := letsswitch.has_unnamed_peers(p_task.room_id);
    v_room uuid;
    v_closes_at timestamptz;
BEGIN
    PERFORM letsswitch.write_event(
        'match.ended', p_task.device_id, letsswitch.match_tasks(p_task.id, p_partner.id), p_task.room_id, p_task.starts_at);
    IF p_partner.device_id IS NULL THEN
        PERFORM letsswitch.drop_task(p_partner);
        PERFORM letsswitch.dissolve_room(p_task.room_id);
        RETURN NULL;
    END IF;
    IF p_partner.registered <= letsswitch.erased_up_to(p_partner.device_id)
        OR v_is_kept AND letsswitch.has_unnamed_peers(v_other.room_id) THEN
        v_other := NULL;
    END IF;
    IF v_other.id IS NULL THEN
        v_stays := letsswitch.assign_match(
            p_partner, NULL, CASE WHEN v_is_kept THEN p_partner.room_id ELSE gen_random_uuid() END, p_partner.closes_at,
            -- After the lead, claimed or not, it can't be joined as usual.
            CASE WHEN v_is_claimed OR p_partner.reminds_at <= letsswitch.clock()
                THEN p_task.starts_at + make_interval(secs => p_late_join) END, true);
    ELSE
        v_room := CASE WHEN v_is_kept THEN p_partner.room_id ELSE v_other.room_id END;
        v_closes_at := CASE WHEN v_is_kept THEN p_partner.closes_at ELSE v_other.closes_at END;
        PERFORM letsswitch.notify_claimed(v_other);
        v_stays := letsswitch.assign_match(p_partner, v_other.id, v_room, v_closes_at, NULL, true);
        PERFORM letsswitch.assign_match(v_other, p_partner.id, v_room, v_closes_at, NULL, false);
        IF v_other.waits_until IS NULL AND NOT letsswitch.is_due(v_other) THEN
            -- Its reminder knew of no room.
            PERFORM letsswitch.notify_rematched(task, NULL) FROM letsswitch.task WHERE task.id = v_other.id;
        END IF;
        IF v_room <> v_other.room_id THEN
            PERFORM letsswitch.dissolve_room(v_other.room_id);
        END IF;
        PERFORM letsswitch.write_match_event(v_stays, v_is_claimed OR NOT letsswitch.is_due(v_other));
    END IF;
    IF NOT v_is_kept AND v_was_open THEN
        PERFORM letsswitch.dissolve_room(p_task.room_id);
    END IF;
    PERFORM letsswitch.notify_partner_changed(v_stays);
    RETURN v_stays;
END
$$;

-- Notifies every daemon of the days that have changed, in the form of its own events. It is in the transaction, because
-- a remaining partner must be notified even if the answer is lost, and a repetition changes nothing. These statements
-- are rare. With a NOTIFY in every registration all commits would wait for each other.
CREATE FUNCTION letsswitch.notify_changes(p_outcomes letsswitch.task_outcome[]) RETURNS void
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

-- Cancels a task, also a matched one and also after the lead, until p_late_join seconds after the start. The first row
-- is the task as it was (left), or the refusal; the second, if there was a partner, is the partner's task as it is now
-- (stayed).
CREATE FUNCTION letsswitch.leave_task(p_device text, p_id uuid, p_late_join double precision)
RETURNS SETOF letsswitch.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome letsswitch.task_outcome;
    v_task letsswitch.task := letsswitch.lock_task(p_device, p_id);
    v_partner letsswitch.task;
    v_waiting letsswitch.task;
    v_is_due boolean;
    v_left letsswitch.task_outcome;
    v_stayed letsswitch.task_outcome;
BEGIN
    IF v_task.id IS NOT NULL THEN
        IF v_task.partner_id IS NOT NULL THEN
            v_waiting.id := letsswitch.waiting_task(
                v_task.starts_at, v_task.id, letsswitch.device_of(v_task.partner_id), false);
        END IF;
        PERFORM letsswitch.lock_tasks(ARRAY[v_task.id, v_task.partner_id, v_waiting.id]);
        SELECT * INTO v_task FROM letsswitch.task WHERE task.id = p_id AND task.device_id = p_device;
    END IF;
    IF v_task.id IS NULL THEN
        v_outcome.code := 'no_such_task';
        RETURN NEXT v_outcome;
        RETURN;
    END IF;
    v_partner := letsswitch.lock_chosen_task(v_task.partner_id, false);
    v_waiting := letsswitch.lock_chosen_task(v_waiting.id, true);
    IF v_task.starts_at + make_interval(secs => p_late_join) <= letsswitch.clock() THEN
        RETURN NEXT letsswitch.outcome('registration_closed', v_task, NULL);
        RETURN;
    END IF;
    v_is_due := letsswitch.is_due(v_task);
    v_left := letsswitch.outcome(
        'left', v_task,
        CASE WHEN v_is_due AND v_task.partner_id IS NULL AND v_task.invites_until IS NULL THEN false END);
    RETURN NEXT v_left;
    IF v_partner.id IS NOT NULL THEN
        v_partner := letsswitch.leave_match(v_task, v_partner, v_waiting, p_late_join);
    ELSIF v_task.waits_until IS NOT NULL THEN
        PERFORM letsswitch.dissolve_room(v_task.room_id);
    END IF;
    PERFORM letsswitch.drop_task(v_task);
    PERFORM letsswitch.write_task_event('task.cancelled', v_task);
    IF v_partner.id IS NOT NULL THEN
        v_stayed := letsswitch.outcome(
            'stayed', v_partner, CASE WHEN letsswitch.is_due(v_partner) THEN v_partner.partner_id IS NULL END);
        RETURN NEXT v_stayed;
    END IF;
    PERFORM letsswitch.notify_changes(ARRAY[v_left, v_stayed]);
END
$$;

-- Locks the starts for which either waits for a partner, and their tasks, so that nobody registers there meanwhile and
-- still sees a block that is being removed. Returns these starts.
CREATE FUNCTION letsswitch.lock_waiting_starts(p_device text, p_other text) RETURNS timestamptz[]
LANGUAGE plpgsql AS $$
DECLARE
    v_slots timestamptz[] := ARRAY(
        SELECT DISTINCT task.starts_at FROM letsswitch.task
        WHERE task.device_id IN (p_device, p_other) AND task.starts_at > letsswitch.clock() AND task.partner_id IS NULL
            -- Tasks that are being erased are locked by the erasure, and not waited for while a slot is locked.
            AND task.registered > letsswitch.erased_up_to(task.device_id)
        ORDER BY task.starts_at);
    v_slot timestamptz;
BEGIN
    FOREACH v_slot IN ARRAY v_slots LOOP
        PERFORM letsswitch.lock_slot(v_slot);
    END LOOP;
    PERFORM letsswitch.lock_tasks(ARRAY(
        SELECT task.id FROM letsswitch.task
        WHERE task.device_id IN (p_device, p_other) AND task.starts_at = ANY (v_slots) AND task.partner_id IS NULL
            AND task.registered > letsswitch.erased_up_to(task.device_id)));
    RETURN v_slots;
END
$$;

-- After a block is removed: matches the two wherever both wait, in the slots that lock_waiting_starts has locked. Only
-- before the start, also after the lead; from the start on rematch_slot matches those who wait.
CREATE FUNCTION letsswitch.pair_unblocked(p_device text, p_other text, p_slots timestamptz[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_pair record;
    v_moves letsswitch.task;
    v_stays letsswitch.task;
    v_is_claimed boolean;
BEGIN
    FOR v_pair IN
        SELECT own, other FROM letsswitch.task AS own
        JOIN letsswitch.task AS other ON other.device_id = p_other AND other.starts_at = own.starts_at
        WHERE own.device_id = p_device AND own.starts_at = ANY (p_slots) AND own.starts_at > letsswitch.clock()
            AND own.partner_id IS NULL AND own.invites_until IS NULL AND own.closes_at > letsswitch.clock()
            AND other.partner_id IS NULL AND other.invites_until IS NULL AND other.closes_at > letsswitch.clock()
            AND own.registered > letsswitch.erased_up_to(p_device) AND other.registered > letsswitch.erased_up_to(p_other)
        ORDER BY own.starts_at
    LOOP
        v_moves := v_pair.own;
        v_stays := v_pair.other;
        -- A user who can't be moved to another room stays; otherwise one who is already in a room stays.
        IF letsswitch.has_unnamed_peers(v_moves.room_id)
            OR v_stays.waits_until IS NULL AND NOT letsswitch.has_unnamed_peers(v_stays.room_id) THEN
            v_moves := v_pair.other;
            v_stays := v_pair.own;
        END IF;
        CONTINUE WHEN letsswitch.has_unnamed_peers(v_moves.room_id);
        v_is_claimed := NOT letsswitch.is_due(v_moves) OR NOT letsswitch.is_due(v_stays);
        PERFORM letsswitch.pair_free(v_moves, v_stays, v_is_claimed);
        IF v_is_claimed THEN
            -- Their reminders knew of no room, or of another.
            PERFORM letsswitch.notify_rematched(
                task, CASE WHEN task.id = v_moves.id AND v_moves.waits_until IS NOT NULL THEN v_moves.room_id END)
            FROM letsswitch.task WHERE task.id IN (v_moves.id, v_stays.id);
            PERFORM letsswitch.notify_claimed(v_moves);
            PERFORM letsswitch.notify_claimed(v_stays);
        END IF;
        PERFORM letsswitch.notify_changes(ARRAY[letsswitch.outcome(
            'stayed', task, CASE WHEN NOT v_is_claimed THEN false END)])
        FROM letsswitch.task WHERE task.id = v_stays.id;
    END LOOP;
END
$$;
