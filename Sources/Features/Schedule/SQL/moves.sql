-- Moving a task to another slot. partners.sql has the changes of matches.

-- The tasks that a move changes. All are locked.
CREATE TYPE schedule.held_move AS (
    task schedule.task,
    -- The partner, who stays in the old slot, and the task in the old slot that the partner is matched with.
    partner schedule.task,
    waiting schedule.task,
    -- The task in the new slot that becomes the partner.
    found schedule.task,
    -- The device's other task in the new slot. NULL: the slot is free.
    conflict uuid
);

-- Moves a task to another slot, completely or not at all. The task keeps its id and title, and gets a new number
-- (registered), so it is the last one in the new slot. The parameters are those of register_task. If p_zone is NULL,
-- the task's zone is used.
--
-- The first row is the task as it is now (moved, or repeated if it already has this start), or the refusal. If the task
-- was moved, a second row has the slot that it left (left). If it had a partner, a third row has the partner's task
-- (stayed). A task that has started counts as an open task again after the move, so p_most applies to it.
CREATE FUNCTION schedule.move_task(
    p_device text, p_id uuid, p_zone text, p_starts_at bigint, p_midnight bigint, p_day integer, p_time integer,
    p_lead double precision, p_horizon double precision, p_room_duration double precision, p_late_join double precision,
    p_most integer DEFAULT NULL, p_invite_hold double precision DEFAULT 300
) RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_slot record;
    v_zone text;
    v_held schedule.held_move;
    v_request schedule.registration;
    v_now timestamptz;
BEGIN
    -- A moved task would be newer than what a running erasure deletes, and would stay.
    PERFORM core.lock_erasing_shared(p_device);
    IF p_most IS NOT NULL THEN
        PERFORM core.lock_device(p_device);
    END IF;
    SELECT coalesce(p_zone, task.time_zone) INTO v_zone FROM schedule.task
    WHERE task.id = p_id AND task.device_id = p_device;
    IF NOT FOUND THEN
        v_outcome.code := 'no_such_task';
        RETURN NEXT v_outcome;
        RETURN;
    END IF;
    v_slot := schedule.resolve(v_zone, p_starts_at, p_midnight, p_day, p_time);
    IF v_slot.problem IS NOT NULL THEN
        v_outcome.code := v_slot.problem;
        RETURN NEXT v_outcome;
        RETURN;
    END IF;
    v_held := schedule.lock_for_move(p_device, p_id, v_slot.starts_at);
    v_request := ROW(
        p_device, NULL, v_zone, v_slot.starts_at, v_slot.start_time, make_interval(secs => p_lead),
        make_interval(secs => p_horizon), make_interval(secs => p_room_duration), make_interval(secs => p_late_join),
        p_most, p_invite_hold, NULL)::schedule.registration;
    -- Read after the waits for locks, which may have taken until after the lead.
    v_now := core.clock();
    v_outcome := schedule.move_refusal(v_held, v_request, v_now);
    IF v_outcome.code IS NOT NULL THEN
        RETURN NEXT v_outcome;
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM schedule.move_locked_task(v_held, v_request, v_now);
END
$$;

-- Locks both slots and the tasks that a move changes. `task` is NULL if the device has no such task. Its start is
-- p_starts_at if there is nothing to move.
CREATE FUNCTION schedule.lock_for_move(p_device text, p_id uuid, p_starts_at timestamptz) RETURNS schedule.held_move
LANGUAGE plpgsql AS $$
DECLARE
    v_held schedule.held_move;
    v_task schedule.task := schedule.lock_task(p_device, p_id, p_starts_at);
    v_waiting uuid;
    v_found uuid;
BEGIN
    v_held.task := v_task;
    IF v_task.id IS NULL OR v_task.starts_at = p_starts_at THEN
        RETURN v_held;
    END IF;
    IF v_task.partner_id IS NOT NULL THEN
        v_waiting := schedule.waiting_task(
            v_task.starts_at, v_task.id, schedule.device_of(v_task.partner_id), false);
    END IF;
    -- A task in the new slot that is being erased is deleted, as in register_task.
    PERFORM schedule.erase_tasks(ARRAY[task.id]) FROM schedule.task
    WHERE task.device_id = p_device AND task.starts_at = p_starts_at AND task.registered <= core.erased_up_to(p_device);
    IF v_task.invites_until IS NULL THEN
        v_found := schedule.waiting_task(p_starts_at, v_task.id, p_device, false);
    END IF;
    SELECT task.id INTO v_held.conflict FROM schedule.task
    WHERE task.device_id = p_device AND task.starts_at = p_starts_at;
    v_found := nullif(v_found, v_held.conflict);
    PERFORM schedule.lock_tasks(ARRAY[v_task.id, v_task.partner_id, v_waiting, v_found]);
    SELECT * INTO v_task FROM schedule.task WHERE task.id = p_id AND task.device_id = p_device;
    v_held.task := v_task;
    IF v_task.id IS NOT NULL AND v_held.conflict IS NULL THEN
        v_held.partner := schedule.lock_chosen_task(v_task.partner_id, false);
        v_held.waiting := schedule.lock_chosen_task(v_waiting, true);
        v_held.found := schedule.lock_chosen_task(v_found, true);
    END IF;
    RETURN v_held;
END
$$;

-- Why a task isn't moved: no_such_task, repeated, slot_taken, registration_closed, too_many_tasks, too_far_ahead. The code is
-- NULL if the task can be moved.
CREATE FUNCTION schedule.move_refusal(
    p_held schedule.held_move, p_request schedule.registration, p_now timestamptz
) RETURNS schedule.task_outcome
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_task schedule.task := p_held.task;
BEGIN
    IF v_task.id IS NULL THEN
        v_outcome.code := 'no_such_task';
    ELSIF v_task.starts_at = p_request.starts_at THEN
        RETURN schedule.outcome('repeated', v_task, NULL);
    ELSIF p_held.conflict IS NOT NULL THEN
        RETURN schedule.outcome('slot_taken', v_task, NULL);
    ELSIF v_task.starts_at + p_request.late_join <= p_now THEN
        RETURN schedule.outcome('registration_closed', v_task, NULL);
    ELSIF p_request.starts_at - p_request.lead < p_now THEN
        -- The outcome has the time that the task can't be moved to.
        v_task.starts_at := p_request.starts_at;
        v_task.start_time := p_request.start_time;
        v_task.time_zone := p_request.time_zone;
        RETURN schedule.outcome('registration_closed', v_task, NULL);
    ELSIF v_task.starts_at <= p_now AND schedule.has_open_tasks(p_request.device_id, p_request.most, p_now) THEN
        v_outcome.code := 'too_many_tasks';
    ELSIF p_request.starts_at > p_now + p_request.horizon THEN
        v_outcome.code := 'too_far_ahead';
    END IF;
    RETURN v_outcome;
END
$$;

-- Moves a locked task. Returns the rows of move_task.
CREATE FUNCTION schedule.move_locked_task(
    p_held schedule.held_move, p_request schedule.registration, p_now timestamptz
) RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task := p_held.task;
    v_partner schedule.task := p_held.partner;
    v_found schedule.task := p_held.found;
    v_moved schedule.task_outcome;
    v_left schedule.task_outcome := schedule.outcome(
        'left', v_task,
        CASE WHEN v_task.partner_id IS NULL AND v_task.invites_until IS NULL AND schedule.is_due(v_task) THEN false END);
    v_stayed schedule.task_outcome;
BEGIN
    IF v_partner.id IS NOT NULL THEN
        v_partner := schedule.leave_match(
            v_task, v_partner, p_held.waiting, extract(epoch FROM p_request.late_join)::double precision);
    ELSIF v_task.waits_until IS NOT NULL THEN
        PERFORM schedule.dissolve_room(v_task.room_id);
    END IF;
    PERFORM schedule.delete_progress(v_task);
    IF v_found.reminds_at < p_now OR NOT schedule.is_due(v_found) THEN
        v_found := NULL;
    END IF;
    v_task := schedule.place_moved_task(v_task, v_found, p_request, p_now);
    PERFORM schedule.write_task_event('task.moved', v_task);
    IF v_found.id IS NOT NULL THEN
        UPDATE schedule.task SET partner_id = v_task.id WHERE task.id = v_found.id;
        PERFORM schedule.write_match_event(v_task, false);
    END IF;
    v_moved := schedule.outcome(
        'moved', v_task, CASE WHEN v_task.invites_until IS NULL THEN v_task.partner_id IS NULL END);
    RETURN NEXT v_moved;
    RETURN NEXT v_left;
    IF v_partner.id IS NOT NULL THEN
        v_stayed := schedule.outcome(
            'stayed', v_partner, CASE WHEN schedule.is_due(v_partner) THEN v_partner.partner_id IS NULL END);
        RETURN NEXT v_stayed;
    END IF;
    PERFORM schedule.notify_changes(ARRAY[v_moved, v_left, v_stayed]);
END
$$;

-- Gives a task its new slot, with p_partner or none, and makes it wait for its claim there. Returns the task.
CREATE FUNCTION schedule.place_moved_task(
    p_task schedule.task, p_partner schedule.task, p_request schedule.registration, p_now timestamptz
) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task;
    v_reminds_at timestamptz := p_request.starts_at - p_request.lead;
BEGIN
    UPDATE schedule.task SET
        registered = DEFAULT, starts_at = p_request.starts_at, reminds_at = v_reminds_at,
        time_zone = p_request.time_zone, start_time = p_request.start_time,
        room_id = coalesce(p_partner.room_id, gen_random_uuid()),
        closes_at = coalesce(p_partner.closes_at, p_request.starts_at + p_request.room_duration),
        partner_id = p_partner.id, was_dissolved = false, waits_until = NULL, is_absent = false,
        paired_at = NULL, notified_at = NULL, rematched_at = NULL, began_at = NULL, series_id = NULL, series_day = NULL,
        -- A task that waits for its guest also waits in the new slot.
        invites_until = CASE WHEN p_task.invites_until IS NOT NULL
            THEN schedule.holds_until(v_reminds_at, p_request.invite_hold, p_now) END
    WHERE task.id = p_task.id RETURNING * INTO v_task;
    IF schedule.schedulers_sleep_past(v_reminds_at, p_now) THEN
        PERFORM schedule.wake_schedulers(v_reminds_at);
    END IF;
    INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
    VALUES (v_task.reminds_at, v_task.registered, v_task.id, v_task.starts_at, v_task.closes_at);
    RETURN v_task;
END
$$;
