-- Registering a task. tasks.sql has the order of the locks.

-- A request to register a task in a slot.
CREATE TYPE schedule.registration AS (
    device_id text,
    title text,
    time_zone text,
    starts_at timestamptz,
    start_time text,
    lead interval,
    horizon interval,
    room_duration interval,
    -- How long after the start a user may still join another user who waits.
    late_join interval,
    -- The most open tasks of the device. NULL: the number isn't checked.
    most integer,
    -- The task waits for an invited guest until this many seconds before the lead. NULL: it waits for anyone.
    invite_hold double precision,
    -- The task whose user has invited this device: that user becomes the partner. NULL: the device has no invitation.
    host uuid
);

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
    v_own schedule.task;
    v_is_waiting boolean;
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

    SELECT * INTO v_own FROM schedule.task WHERE device_id = p_device AND starts_at = v_slot.starts_at;
    IF v_own.id IS NOT NULL AND v_own.registered <= core.erased_up_to(p_device) THEN
        -- The old task is being erased, and its row conflicts with the new one.
        PERFORM schedule.erase_tasks(ARRAY[v_own.id]);
        SELECT * INTO v_own FROM schedule.task WHERE device_id = p_device AND starts_at = v_slot.starts_at;
    END IF;
    IF FOUND THEN
        v_is_waiting := schedule.lock_if_waiting(v_own);
        SELECT * INTO v_own FROM schedule.task WHERE id = v_own.id AND device_id = p_device;
    END IF;
    IF FOUND THEN
        RETURN schedule.register_again(v_own, v_is_waiting, p_title, p_late_join, p_invite_hold);
    END IF;
    RETURN schedule.register_new(ROW(
        p_device, p_title, p_zone, v_slot.starts_at, v_slot.start_time, make_interval(secs => p_lead),
        make_interval(secs => p_horizon), make_interval(secs => p_room_duration), make_interval(secs => p_late_join),
        p_most, p_invite_hold, p_host)::schedule.registration);
END
$$;

-- Handles the registration of a slot in which the device already has a task, which is locked: gives the task the title,
-- makes it wait for a guest, or has its user join late. p_is_waiting: the task isn't claimed.
CREATE FUNCTION schedule.register_again(
    p_task schedule.task, p_is_waiting boolean, p_title text, p_late_join double precision,
    p_invite_hold double precision
) RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task := p_task;
    v_is_waiting boolean := p_is_waiting AND (p_task.title = p_title OR schedule.lock_partner_if_waiting(p_task));
    v_was_waiting_for_anyone boolean := p_task.invites_until IS NULL;
    v_now timestamptz := core.clock();
BEGIN
    IF v_task.starts_at <= v_now AND v_now < v_task.starts_at + make_interval(secs => p_late_join)
        AND v_task.partner_id IS NULL AND v_task.waits_until IS NULL THEN
        RETURN schedule.join_late(v_task, p_title, p_late_join);
    ELSIF v_task.starts_at <= v_now AND NOT (
        v_task.title = p_title AND v_now < v_task.starts_at + make_interval(secs => p_late_join)
        AND schedule.may_be_unknown(v_task)
    ) THEN
        RETURN schedule.outcome('registration_closed', v_task, NULL);
    END IF;
    IF p_invite_hold IS NOT NULL AND v_task.partner_id IS NULL AND v_is_waiting AND v_task.reminds_at > v_now THEN
        v_task := schedule.invite_guest(v_task, p_invite_hold, v_now);
    END IF;
    IF v_task.title = p_title AND v_was_waiting_for_anyone AND v_task.invites_until IS NOT NULL THEN
        -- Other users can't join it any more.
        RETURN schedule.inviting_outcome('retitled', v_task, false);
    ELSIF v_task.title = p_title AND p_invite_hold IS NOT NULL THEN
        RETURN schedule.inviting_outcome('repeated', v_task, NULL);
    ELSIF v_task.title = p_title THEN
        RETURN schedule.outcome('repeated', v_task, NULL);
    ELSIF NOT v_is_waiting OR v_task.reminds_at < v_now THEN
        RETURN schedule.outcome('registration_closed', v_task, NULL);
    END IF;
    v_task := schedule.retitle_waiting(v_task, p_title);
    IF p_invite_hold IS NOT NULL THEN
        RETURN schedule.inviting_outcome(
            'retitled', v_task, CASE WHEN v_was_waiting_for_anyone AND v_task.invites_until IS NOT NULL THEN false END);
    END IF;
    RETURN schedule.outcome('retitled', v_task, NULL);
END
$$;

-- Locks the partner of a task that gets another title. Returns whether the partner's reminder can still have the new title:
-- it is claimed after this transaction, or there is no partner. No other transaction locks the two rows: transactions that
-- change titles lock the slot first, and claims skip locked rows.
CREATE FUNCTION schedule.lock_partner_if_waiting(p_task schedule.task) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_partner schedule.task;
BEGIN
    IF p_task.partner_id IS NULL THEN
        RETURN true;
    END IF;
    SELECT * INTO v_partner FROM schedule.task WHERE id = p_task.partner_id;
    RETURN v_partner.device_id IS NULL OR schedule.lock_if_waiting(v_partner);
END
$$;

-- Whether the user may not know of a match after the start, so that a repeated registration is answered as if it were in
-- time: the user who joined late, the user who waited, and a user whose reminder was too early to name the partner.
CREATE FUNCTION schedule.may_be_unknown(p_task schedule.task) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM schedule.task AS partner
        WHERE partner.id = p_task.partner_id AND (partner.was_dissolved OR partner.paired_at IS NOT NULL)
    ) AND (p_task.paired_at >= p_task.reminds_at OR NOT schedule.was_reminded(p_task.id, p_task.starts_at))
$$;

-- Registers a task in a slot that is locked and in which the device has none.
CREATE FUNCTION schedule.register_new(p_request schedule.registration) RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_partner schedule.task := schedule.lock_partner(
        p_request.device_id, p_request.starts_at, p_request.invite_hold, p_request.host);
    -- Read after the waits for locks, which may have taken until after the lead.
    v_now timestamptz := core.clock();
    v_is_late boolean := p_request.starts_at - p_request.lead < v_now;
    v_is_open boolean;
    v_left_room uuid;
    v_task schedule.task;
BEGIN
    IF v_is_late AND p_request.host IS NULL AND v_now < p_request.starts_at + p_request.late_join THEN
        v_partner := schedule.late_partner(p_request.starts_at, NULL, p_request.device_id);
    END IF;
    v_outcome.code := schedule.registration_problem(p_request, v_partner, v_is_late, v_now);
    IF v_outcome.code IS NOT NULL THEN
        RETURN v_outcome;
    END IF;
    -- A room that a later claim opens gets its event from that claim.
    v_is_open := v_is_late AND NOT schedule.is_due(v_partner);
    IF NOT v_is_late AND v_partner.reminds_at < v_now THEN
        -- The partner's claim may come at any moment.
        v_partner := NULL;
    ELSIF v_partner.partner_id IS NOT NULL THEN
        -- The user waits although the task has a partner, who is absent.
        v_left_room := v_partner.room_id;
        PERFORM schedule.leave_absent_partner(v_partner, extract(epoch FROM p_request.late_join)::double precision);
        v_partner := schedule.assign_match(
            v_partner, NULL, gen_random_uuid(), v_partner.closes_at, v_partner.waits_until, true);
    ELSIF v_is_late THEN
        PERFORM schedule.notify_partner_found(v_partner);
    END IF;
    v_task := schedule.insert_task(p_request, v_partner, v_is_late, v_now);
    IF v_partner.id IS NOT NULL THEN
        UPDATE schedule.task
        SET partner_id = v_task.id, waits_until = NULL, paired_at = v_task.paired_at, invites_until = NULL,
            guest_id = CASE WHEN p_request.host IS NOT NULL THEN v_task.id ELSE task.guest_id END
        WHERE id = v_partner.id RETURNING * INTO v_partner;
    END IF;
    -- This is asked once for both events, because most databases have no subscriber.
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

-- The waiting task that a new task is matched with before the lead, locked: the host's, or the one of a preferred user,
-- or the one that was registered first. NULL if there is none. The slot is locked, so no other transaction matches in it. A
-- task that is being cancelled, erased or claimed is gone when its lock is taken.
CREATE FUNCTION schedule.lock_partner(
    p_device text, p_starts_at timestamptz, p_invite_hold double precision, p_host uuid
) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_partner schedule.task;
BEGIN
    IF p_host IS NOT NULL THEN
        SELECT task.* INTO v_partner FROM schedule.task
        JOIN schedule.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.id = p_host AND task.starts_at = p_starts_at AND task.partner_id IS NULL
        FOR UPDATE OF due;
    ELSIF p_invite_hold IS NULL AND EXISTS (
        -- Usually no other task waits.
        SELECT FROM schedule.task
        WHERE task.starts_at = p_starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
    ) THEN
        SELECT task.* INTO v_partner FROM schedule.task
        JOIN schedule.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.starts_at = p_starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
            AND task.device_id <> p_device
            AND NOT EXISTS (
                SELECT FROM core.erasure
                WHERE erasure.device_id = task.device_id AND erasure.up_to >= task.registered
                OFFSET 0
            )
            -- Users with a block between them can both wait.
            AND NOT EXISTS (
                SELECT FROM core.block WHERE block.device_id = p_device AND block.blocked_id = task.device_id OFFSET 0
            )
            AND NOT EXISTS (
                SELECT FROM core.block WHERE block.device_id = task.device_id AND block.blocked_id = p_device OFFSET 0
            )
        -- The same as preferences_between. A call would plan its queries again in each transaction.
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
    RETURN v_partner;
END
$$;

-- Why a task can't be registered: registration_closed, too_far_ahead, too_many_tasks; NULL if it can. After the lead, a
-- task needs a partner who waits in the room. A guest needs the host.
CREATE FUNCTION schedule.registration_problem(
    p_request schedule.registration, p_partner schedule.task, p_is_late boolean, p_now timestamptz
) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_is_late AND (p_partner.waits_until IS NULL OR p_request.host IS NOT NULL)
        OR p_request.host IS NOT NULL AND (p_partner.id IS NULL OR p_partner.reminds_at < p_now) THEN
        RETURN 'registration_closed';
    ELSIF p_request.starts_at > p_now + p_request.horizon THEN
        RETURN 'too_far_ahead';
    ELSIF p_request.most IS NOT NULL AND schedule.has_open_tasks(p_request.device_id, p_request.most, p_now) THEN
        RETURN 'too_many_tasks';
    END IF;
    RETURN NULL;
END
$$;

-- Inserts a task, which joins the partner's match if there is a partner, and makes it wait for its claim.
CREATE FUNCTION schedule.insert_task(
    p_request schedule.registration, p_partner schedule.task, p_is_late boolean, p_now timestamptz
) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid := gen_random_uuid();
    v_reminds_at timestamptz := p_request.starts_at - p_request.lead;
    v_is_inviting boolean := p_request.invite_hold IS NOT NULL AND p_partner.id IS NULL;
    v_task schedule.task;
BEGIN
    IF schedule.schedulers_sleep_past(v_reminds_at, p_now) THEN
        PERFORM schedule.wake_schedulers(v_reminds_at);
    END IF;
    INSERT INTO schedule.task
        (id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at, partner_id,
         paired_at, invitation, invites_until)
    VALUES
        (v_id, p_request.device_id, p_request.title, p_request.starts_at, v_reminds_at, p_request.time_zone,
         p_request.start_time, coalesce(p_partner.room_id, gen_random_uuid()),
         coalesce(p_partner.closes_at, p_request.starts_at + p_request.room_duration), p_partner.id,
         CASE WHEN p_is_late THEN p_now END,
         CASE WHEN v_is_inviting THEN schedule.invitation_digest(schedule.invitation_token(v_id)) END,
         CASE WHEN v_is_inviting THEN schedule.holds_until(v_reminds_at, p_request.invite_hold, p_now) END)
    RETURNING * INTO v_task;
    INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
    VALUES (v_task.reminds_at, v_task.registered, v_task.id, v_task.starts_at, v_task.closes_at);
    RETURN v_task;
END
$$;
