-- Moving a task to another slot. partners.sql has the changes of matches.

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
    v_now timestamptz;
    v_task schedule.task;
    v_partner schedule.task;
    v_waiting schedule.task;
    v_found schedule.task;
    v_conflict uuid;
    v_moved schedule.task_outcome;
    v_left schedule.task_outcome;
    v_stayed schedule.task_outcome;
    v_zone text;
BEGIN
    -- Delays an erasure of the device. The moved task would have a higher number than the erasure covers, and wouldn't
    -- be deleted.
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
    v_task := schedule.lock_task(p_device, p_id, v_slot.starts_at);
    IF v_task.id IS NOT NULL AND v_task.starts_at <> v_slot.starts_at THEN
        IF v_task.partner_id IS NOT NULL THEN
            v_waiting.id := schedule.waiting_task(
                v_task.starts_at, v_task.id, schedule.device_of(v_task.partner_id), false);
        END IF;
        SELECT task.id INTO v_conflict FROM schedule.task
        WHERE task.device_id = p_device AND task.starts_at = v_slot.starts_at
            AND task.registered <= core.erased_up_to(p_device);
        IF FOUND THEN
            -- The device's old task in this slot is being erased, and its row would conflict with the moved task.
            PERFORM schedule.erase_tasks(ARRAY[v_conflict]);
        END IF;
        IF v_task.invites_until IS NULL THEN
            v_found.id := schedule.waiting_task(v_slot.starts_at, v_task.id, p_device, false);
        END IF;
        SELECT task.id INTO v_conflict FROM schedule.task
        WHERE task.device_id = p_device AND task.starts_at = v_slot.starts_at;
        IF v_found.id = v_conflict THEN
            v_found.id := NULL;
        END IF;
        PERFORM schedule.lock_tasks(ARRAY[v_task.id, v_task.partner_id, v_waiting.id, v_found.id]);
        SELECT * INTO v_task FROM schedule.task WHERE task.id = p_id AND task.device_id = p_device;
    END IF;
    IF v_task.id IS NULL THEN
        v_outcome.code := 'no_such_task';
        RETURN NEXT v_outcome;
        RETURN;
    ELSIF v_task.starts_at = v_slot.starts_at THEN
        RETURN NEXT schedule.outcome('repeated', v_task, NULL);
        RETURN;
    ELSIF v_conflict IS NOT NULL THEN
        RETURN NEXT schedule.outcome('slot_taken', v_task, NULL);
        RETURN;
    END IF;
    v_partner := schedule.lock_chosen_task(v_task.partner_id, false);
    v_waiting := schedule.lock_chosen_task(v_waiting.id, true);
    v_found := schedule.lock_chosen_task(v_found.id, true);
    -- Read only now: while this transaction waited for the locks, the lead may have begun.
    v_now := core.clock();
    IF v_task.starts_at + make_interval(secs => p_late_join) <= v_now THEN
        RETURN NEXT schedule.outcome('registration_closed', v_task, NULL);
        RETURN;
    ELSIF v_slot.starts_at - make_interval(secs => p_lead) < v_now THEN
        -- The refusal names the time that the task can't be moved to.
        v_task.starts_at := v_slot.starts_at;
        v_task.start_time := v_slot.start_time;
        v_task.time_zone := v_zone;
        RETURN NEXT schedule.outcome('registration_closed', v_task, NULL);
        RETURN;
    ELSIF v_task.starts_at <= v_now AND schedule.has_open_tasks(p_device, p_most, v_now) THEN
        v_outcome.code := 'too_many_tasks';
        RETURN NEXT v_outcome;
        RETURN;
    ELSIF v_slot.starts_at > v_now + make_interval(secs => p_horizon) THEN
        v_outcome.code := 'too_far_ahead';
        RETURN NEXT v_outcome;
        RETURN;
    END IF;

    v_left := schedule.outcome(
        'left', v_task,
        CASE WHEN v_task.partner_id IS NULL AND v_task.invites_until IS NULL AND schedule.is_due(v_task) THEN false END);
    IF v_partner.id IS NOT NULL THEN
        v_partner := schedule.leave_match(v_task, v_partner, v_waiting, p_late_join);
    ELSIF v_task.waits_until IS NOT NULL THEN
        PERFORM schedule.dissolve_room(v_task.room_id);
    END IF;
    PERFORM schedule.delete_progress(v_task);

    IF v_found.reminds_at < v_now OR NOT schedule.is_due(v_found) THEN
        v_found := NULL;
    END IF;
    UPDATE schedule.task SET
        registered = DEFAULT, starts_at = v_slot.starts_at,
        reminds_at = v_slot.starts_at - make_interval(secs => p_lead), time_zone = v_zone, start_time = v_slot.start_time,
        room_id = coalesce(v_found.room_id, gen_random_uuid()),
        closes_at = coalesce(v_found.closes_at, v_slot.starts_at + make_interval(secs => p_room_duration)),
        partner_id = v_found.id, was_dissolved = false, waits_until = NULL, is_absent = false,
        paired_at = NULL, notified_at = NULL, rematched_at = NULL, began_at = NULL, series_id = NULL, series_day = NULL,
        -- The task waits for its guest in the new slot too.
        invites_until = CASE WHEN v_task.invites_until IS NOT NULL THEN schedule.holds_until(
            v_slot.starts_at - make_interval(secs => p_lead), p_invite_hold, v_now) END
    WHERE task.id = v_task.id RETURNING * INTO v_task;
    IF schedule.schedulers_sleep_past(v_task.reminds_at, v_now) THEN
        PERFORM schedule.wake_schedulers(v_task.reminds_at);
    END IF;
    INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
    VALUES (v_task.reminds_at, v_task.registered, v_task.id, v_task.starts_at, v_task.closes_at);
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
