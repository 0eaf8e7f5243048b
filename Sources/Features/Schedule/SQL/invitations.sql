-- Tasks that wait for an invited guest.
--
--   waits for its guest ──(accepted)──▶ in a match with the guest, even if other tasks wait: guest_id
--        │
--        └──(invites_until)──▶ waits like other tasks; the guest can accept until the lead, while there is no partner
--
-- Matching ignores tasks with invites_until (see the index task_single). The order of locks is that of all changes of
-- matches: first the slot, then `due` rows in order of start (see partners.sql).

-- Returns the secret in the invitation's link. It is computed from the task, and isn't stored.
CREATE FUNCTION schedule.invitation_token(p_task uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(substr(sha256(secret.value || uuid_send(p_task)), 1, 16), 'hex')
    FROM core.secret WHERE secret.name = 'invitations'
$$;

-- Returns the digest under which an invitation's token is stored.
CREATE FUNCTION schedule.invitation_digest(p_token text) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$ SELECT sha256(convert_to(p_token, 'UTF8')) $$;

-- Returns until when a task waits for its guest only: p_hold seconds before the lead. If less time than this is left,
-- it is half of the time that is left.
CREATE FUNCTION schedule.holds_until(p_reminds_at timestamptz, p_hold double precision, p_now timestamptz)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_reminds_at - least(make_interval(secs => p_hold), (p_reminds_at - p_now) / 2)
$$;

-- Makes a locked task without a partner wait for a guest, and returns it. p_hold is that of holds_until. A task that
-- waits for a guest stays as it is. So does a task whose invitation has lapsed, if less than p_hold seconds are left
-- until the lead.
CREATE FUNCTION schedule.invite_guest(p_task schedule.task, p_hold double precision, p_now timestamptz)
RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task := p_task;
BEGIN
    UPDATE schedule.task SET
        invitation = schedule.invitation_digest(schedule.invitation_token(task.id)),
        invites_until = schedule.holds_until(task.reminds_at, p_hold, p_now), guest_id = NULL
    WHERE task.id = p_task.id AND (
        task.invitation IS NULL OR task.guest_id IS NOT NULL
        OR task.invites_until IS NULL AND task.reminds_at - make_interval(secs => p_hold) > p_now)
    RETURNING * INTO v_task;
    RETURN CASE WHEN FOUND THEN v_task ELSE p_task END;
END
$$;

-- Returns the outcome of a request by the task's user. It has the invitation's token if the task waits for a guest.
CREATE FUNCTION schedule.inviting_outcome(p_code text, p_task schedule.task, p_slot_opened boolean)
RETURNS schedule.task_outcome
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_outcome schedule.task_outcome := schedule.outcome(p_code, p_task, p_slot_opened);
BEGIN
    IF p_task.partner_id IS NULL AND p_task.invitation IS NOT NULL THEN
        v_outcome.invitation := schedule.invitation_token(p_task.id);
    END IF;
    RETURN v_outcome;
END
$$;

-- Returns why an invitation can't be accepted any more: no_such_invitation, invitation_used or registration_closed.
-- Returns NULL if it can be accepted.
CREATE FUNCTION schedule.invitation_problem(p_host schedule.task) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN p_host.id IS NULL OR p_host.device_id IS NULL
            OR p_host.registered <= core.erased_up_to(p_host.device_id) THEN 'no_such_invitation'
        WHEN p_host.partner_id IS NOT NULL OR p_host.guest_id IS NOT NULL THEN 'invitation_used'
        WHEN p_host.reminds_at < core.clock() OR NOT schedule.is_due(p_host) THEN 'registration_closed'
    END
$$;

-- Returns the task of an invitation to a user who has the link.
CREATE FUNCTION schedule.read_invitation(p_token text) RETURNS TABLE (
    problem text, title text, start_time text, time_zone text, starts_at bigint, reminds_at double precision
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_host schedule.task;
BEGIN
    SELECT task.* INTO v_host FROM schedule.task WHERE task.invitation = schedule.invitation_digest(p_token);
    RETURN QUERY SELECT
        schedule.invitation_problem(v_host), v_host.title, v_host.start_time, v_host.time_zone,
        extract(epoch FROM v_host.starts_at)::bigint, extract(epoch FROM v_host.reminds_at)::double precision;
END
$$;

-- Accepts an invitation: registers a task for the host's start, with the host's task as the partner, even if other
-- tasks wait. If p_zone is NULL, the host's zone is used. If the device already has a task without a partner for that
-- start, this task is matched and gets the new title.
--
-- Result codes: created, retitled (the device's existing task was matched), repeated, no_such_invitation (also if one
-- of the two has blocked the other), invitation_used, own_invitation, slot_taken, registration_closed, too_many_tasks.
CREATE FUNCTION schedule.accept_invitation(
    p_device text, p_token text, p_title text, p_zone text,
    p_lead double precision, p_horizon double precision, p_room_duration double precision, p_most integer
) RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_digest bytea := schedule.invitation_digest(p_token);
    v_outcome schedule.task_outcome;
    v_host schedule.task;
    v_own schedule.task;
    v_starts_at timestamptz;
BEGIN
    -- register_task takes this lock too, but only after the slot's lock, which would be the wrong order.
    PERFORM core.lock_device(p_device);
    SELECT task.starts_at INTO v_starts_at FROM schedule.task WHERE task.invitation = v_digest;
    IF FOUND THEN
        PERFORM schedule.lock_slot(v_starts_at);
    END IF;
    SELECT * INTO v_host FROM schedule.task WHERE task.invitation = v_digest;
    IF v_host.starts_at <> v_starts_at THEN
        RAISE 'the task was moved meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    SELECT * INTO v_own FROM schedule.task
    WHERE task.device_id = p_device AND task.starts_at = v_starts_at
        AND task.registered > core.erased_up_to(p_device);
    IF v_own.id = v_host.id THEN
        v_outcome.code := 'own_invitation';
        RETURN v_outcome;
    ELSIF v_own.id = v_host.guest_id AND v_own.partner_id = v_host.id THEN
        RETURN schedule.outcome('repeated', v_own, NULL);
    END IF;
    -- Waits for transactions that claim, cancel or erase one of the two tasks.
    PERFORM schedule.lock_tasks(ARRAY[v_host.id, v_own.id]);
    SELECT * INTO v_host FROM schedule.task WHERE task.invitation = v_digest;
    v_outcome.code := schedule.invitation_problem(v_host);
    IF v_host.id IS NOT NULL AND core.is_blocked(p_device, v_host.device_id) THEN
        v_outcome.code := 'no_such_invitation';
    END IF;
    IF v_outcome.code IS NOT NULL THEN
        RETURN v_outcome;
    END IF;
    IF v_own.id IS NULL THEN
        v_outcome := schedule.register_task(
            p_device, p_title, coalesce(p_zone, v_host.time_zone), extract(epoch FROM v_starts_at)::bigint, NULL, NULL, NULL,
            p_lead, p_horizon, p_room_duration, p_most, p_host => v_host.id);
        IF v_host.invites_until IS NOT NULL THEN
            -- The host's task was never visible as waiting, so the slot hasn't changed for other devices.
            v_outcome.slot_opened := NULL;
        END IF;
        RETURN v_outcome;
    END IF;
    RETURN schedule.accept_with_task(v_own.id, v_host, p_device, p_title);
END
$$;

-- Matches the host's task with the task that the guest's device already has in the slot, and gives that task the title
-- p_title. Both tasks are locked. Fails if the guest's task was cancelled in the meantime. Result codes: retitled,
-- slot_taken, registration_closed.
CREATE FUNCTION schedule.accept_with_task(p_own uuid, p_host schedule.task, p_device text, p_title text)
RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_own schedule.task;
    v_was_seen boolean;
BEGIN
    SELECT * INTO v_own FROM schedule.task WHERE task.id = p_own;
    -- If the task had a partner and was erased, its row may still be here for the match.
    IF v_own.id IS NULL OR v_own.device_id IS NULL OR v_own.registered <= core.erased_up_to(p_device) THEN
        RAISE 'the task was cancelled meanwhile' USING ERRCODE = 'serialization_failure';
    ELSIF v_own.partner_id IS NOT NULL THEN
        RETURN schedule.outcome('slot_taken', v_own, NULL);
    ELSIF v_own.reminds_at < core.clock() OR NOT schedule.is_due(v_own) THEN
        RETURN schedule.outcome('registration_closed', v_own, NULL);
    END IF;
    v_own := schedule.retitle_waiting(v_own, p_title);
    v_was_seen := v_own.invites_until IS NULL OR p_host.invites_until IS NULL;
    v_own := schedule.match_waiting(v_own, p_host);
    UPDATE schedule.task SET guest_id = v_own.id WHERE task.id = p_host.id;
    RETURN schedule.outcome('retitled', v_own, CASE WHEN v_was_seen THEN false END);
END
$$;

-- Gives a locked task without a partner the title p_title. Returns the task.
CREATE FUNCTION schedule.retitle_waiting(p_task schedule.task, p_title text) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task := p_task;
BEGIN
    IF p_task.title <> p_title THEN
        -- A task that was changed by hand no longer belongs to its series.
        UPDATE schedule.task SET title = p_title, series_id = NULL, series_day = NULL
        WHERE task.id = p_task.id RETURNING * INTO v_task;
        PERFORM schedule.write_task_event('task.retitled', v_task);
    END IF;
    RETURN v_task;
END
$$;

-- Matches two locked tasks that wait. The match gets the room of p_other; p_is_open says whether that room is open.
-- Returns the task p_task as it is now.
CREATE FUNCTION schedule.match_waiting(
    p_task schedule.task, p_other schedule.task, p_is_open boolean DEFAULT false
) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_task schedule.task;
BEGIN
    v_task := schedule.assign_match(p_task, p_other.id, p_other.room_id, p_other.closes_at, NULL, false);
    PERFORM schedule.assign_match(p_other, p_task.id, p_other.room_id, p_other.closes_at, NULL, false);
    PERFORM schedule.write_match_event(v_task, p_is_open);
    RETURN v_task;
END
$$;

-- Returns the tasks whose guests haven't accepted in time, at most p_limit. Tasks before their lead come first, ordered
-- by the lead, because they can still be matched in time. p_failed are tasks that have just failed; they are left out,
-- so that they don't delay the others.
CREATE FUNCTION schedule.lapsed_invitations(p_limit integer, p_failed uuid[]) RETURNS TABLE (id uuid)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    -- At most this many tasks are sorted. With fewer, a search by index would read many tasks whose guests still have
    -- time.
    v_most integer := greatest(1000, p_limit);
    v_now timestamptz := core.clock();
    v_lapsed uuid[] := ARRAY(
        SELECT task.id FROM schedule.task
        WHERE task.invites_until <= v_now AND NOT task.id = ANY (p_failed)
        ORDER BY task.invites_until LIMIT v_most);
    v_found integer;
BEGIN
    IF cardinality(v_lapsed) < v_most THEN
        RETURN QUERY
        SELECT task.id FROM schedule.task WHERE task.id = ANY (v_lapsed)
        ORDER BY task.reminds_at < v_now, task.reminds_at LIMIT p_limit;
        RETURN;
    END IF;
    -- Too many tasks to sort. Two queries, for the tasks before and after their lead, read them in the order of an
    -- index.
    RETURN QUERY
    SELECT task.id FROM schedule.task
    WHERE task.reminds_at >= v_now AND task.invites_until <= v_now AND NOT task.id = ANY (p_failed)
    ORDER BY task.reminds_at LIMIT p_limit;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    RETURN QUERY
    SELECT task.id FROM schedule.task
    WHERE task.reminds_at < v_now AND task.invites_until <= v_now AND NOT task.id = ANY (p_failed)
    ORDER BY task.reminds_at LIMIT p_limit - v_found;
END
$$;

-- Makes a task whose guest hasn't accepted in time wait for any partner, and matches it if another task waits. Returns
-- whether the task has a partner now.
CREATE FUNCTION schedule.end_invitation(p_task uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_starts_at timestamptz := (SELECT task.starts_at FROM schedule.task WHERE task.id = p_task);
    v_task schedule.task;
    v_waiting schedule.task;
    v_now timestamptz;
    v_is_claimed boolean := false;
BEGIN
    IF v_starts_at IS NULL THEN
        RETURN false;
    END IF;
    PERFORM schedule.lock_slot(v_starts_at);
    SELECT * INTO v_task FROM schedule.task WHERE task.id = p_task AND task.starts_at = v_starts_at;
    v_waiting.id := schedule.waiting_task(v_starts_at, p_task, v_task.device_id, false);
    PERFORM schedule.lock_tasks(ARRAY[p_task, v_waiting.id]);
    v_now := core.clock();
    UPDATE schedule.task SET invites_until = NULL
    WHERE task.id = p_task AND task.starts_at = v_starts_at AND task.invites_until <= v_now RETURNING * INTO v_task;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_waiting := schedule.lock_chosen_task(v_waiting.id, true);
    IF v_task.starts_at <= v_now OR v_task.registered <= core.erased_up_to(v_task.device_id) THEN
        RETURN false;
    ELSIF v_waiting.registered <= core.erased_up_to(v_waiting.device_id) THEN
        RAISE 'the waiting user is being erased' USING ERRCODE = 'serialization_failure';
    ELSIF v_waiting.id IS NOT NULL THEN
        -- Tasks are matched here after the lead too, because no other statement would match these two.
        v_is_claimed := NOT schedule.is_due(v_task) OR NOT schedule.is_due(v_waiting);
        PERFORM schedule.notify_claimed(v_task);
        PERFORM schedule.notify_claimed(v_waiting);
        v_task := schedule.match_waiting(v_task, v_waiting, v_is_claimed);
    END IF;
    PERFORM schedule.notify_changes(ARRAY[schedule.outcome(
        'stayed', v_task, CASE WHEN schedule.is_due(v_task) THEN v_task.partner_id IS NULL END)]);
    IF v_is_claimed THEN
        -- Their reminders named no room.
        PERFORM schedule.notify_rematched(task, NULL) FROM schedule.task WHERE task.id IN (v_task.id, v_waiting.id);
    END IF;
    RETURN v_task.partner_id IS NOT NULL;
END
$$;
