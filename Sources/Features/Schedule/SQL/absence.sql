-- Absent partners: after the start, a user who is alone in the room is matched with another user who waits for the same
-- start.
--
--   matched, alone in the room
--        ├──(another task waits)──▶ in a new match, and both users are notified. The absent user's task gets no
--        │                          partner until this user joins: is_absent
--        └──(no task waits)───────▶ stays in its room and may get a late partner: waits_until. The absent partner can
--                                   still join
--
-- The order of locks is that of all changes of matches: first the slot, then `due` rows and reminders (see
-- partners.sql).

-- Whether the task's user is in the task's room, and has named this task.
CREATE FUNCTION schedule.is_in_own_room(p_task schedule.task) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM core.attendance
        WHERE attendance.room_id = p_task.room_id AND attendance.task_id = p_task.id AND attendance.present > 0)
$$;

-- Whether a member is in the room of a task without a partner. A member that named no task counts too: it has the
-- room's id from the task's user.
CREATE FUNCTION schedule.is_room_occupied(p_task schedule.task) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT schedule.is_in_own_room(p_task) OR core.has_unnamed_members(p_task.room_id)
$$;

-- Whether the user is in the room and the partner isn't, p_patience seconds after the start or after the match was
-- made. A partner whose connection was lost less than p_grace seconds ago still counts as present. If a member of the
-- room named no task, the result is false, because this member may be the partner.
CREATE FUNCTION schedule.is_partner_absent(
    p_task schedule.task, p_patience double precision DEFAULT 0, p_grace double precision DEFAULT 15
) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN p_task.partner_id IS NOT NULL AND p_task.device_id IS NOT NULL AND p_task.closes_at > v_now
        AND greatest(p_task.starts_at, p_task.paired_at) + make_interval(secs => p_patience) <= v_now
        AND schedule.is_in_own_room(p_task)
        AND NOT EXISTS (
            SELECT FROM core.attendance
            WHERE attendance.room_id = p_task.room_id
                AND (attendance.task_id IS NULL OR attendance.task_id = p_task.partner_id)
                AND (attendance.present > 0 OR attendance.changed_at > v_now - make_interval(secs => p_grace)))
        AND p_task.registered > core.erased_up_to(p_task.device_id);
END
$$;

-- Whether a user without a partner waits for one in a room: the partner left after the lead, or the user was absent and
-- has joined the room now.
CREATE FUNCTION schedule.is_waiting(p_task schedule.task) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_task.partner_id IS NULL AND p_task.device_id IS NOT NULL AND p_task.waits_until > core.clock()
        AND p_task.closes_at > core.clock()
        AND (NOT p_task.is_absent OR schedule.is_room_occupied(p_task))
        AND p_task.registered > core.erased_up_to(p_task.device_id);
END
$$;

-- Returns the task that a device may join late although the task has a partner, because that partner hasn't joined in
-- time and still isn't there. Returns NULL if there is none. Preferred partners come first, then the order of
-- registration.
CREATE FUNCTION schedule.task_with_absent_partner(p_starts_at timestamptz, p_device text) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN (
        SELECT task.id FROM schedule.task
        WHERE task.starts_at = p_starts_at AND task.partner_id IS NOT NULL AND task.waits_until IS NOT NULL
            AND task.waits_until > v_now AND schedule.is_partner_absent(task)
            AND NOT core.is_blocked(p_device, task.device_id)
        ORDER BY schedule.preferences_between(p_device, task.device_id) DESC, task.registered
        LIMIT 1
    );
END
$$;

-- Returns the payload of the notification of a rematch. p_from is the room that the task has left.
CREATE FUNCTION schedule.rematch_text(p_task schedule.task, p_from uuid) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'from', p_from, 'device', p_task.device_id, 'startsAt', extract(epoch FROM p_task.starts_at)::bigint,
        'taskId', p_task.id, 'roomId', p_task.room_id,
        'partnerTask', (SELECT partner.title FROM schedule.visible_task AS partner WHERE partner.id = p_task.partner_id)
    )::text
$$;

-- Notifies a task's user of the new room, and of the new partner if there is one. Every daemon sends this to the room
-- p_from and to the device's streams after the commit. The room p_from ends. p_from is NULL if the user was in no room.
-- A client that misses the notification receives it by recent_rematches.
CREATE FUNCTION schedule.notify_rematched(p_task schedule.task, p_from uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_from IS NOT NULL THEN
        PERFORM schedule.write_dissolved_event(p_from);
    END IF;
    UPDATE schedule.task SET rematched_at = core.clock(), rematched_from = p_from WHERE task.id = p_task.id;
    PERFORM pg_notify('letsswitch_rematched', schedule.rematch_text(p_task, p_from));
END
$$;

-- Returns the rematches of the last p_age seconds with the current state of their tasks. Rooms that have closed are
-- left out.
CREATE FUNCTION schedule.recent_rematches(p_age double precision) RETURNS TABLE (notification text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN QUERY
    SELECT schedule.rematch_text(task, task.rematched_from) FROM schedule.task
    WHERE task.rematched_at > v_now - make_interval(secs => p_age) AND task.closes_at > v_now
        AND task.device_id IS NOT NULL AND task.registered > core.erased_up_to(task.device_id)
    ORDER BY task.rematched_at;
END
$$;

-- Dissolves the match of a user who is alone in the room. Both tasks are locked. The absent partner's task gets another
-- room, and no partner until its user joins.
CREATE FUNCTION schedule.leave_absent_partner(p_task schedule.task, p_late_join double precision) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_absent schedule.task;
BEGIN
    SELECT * INTO v_absent FROM schedule.task WHERE task.id = p_task.partner_id;
    PERFORM core.write_event(
        'match.ended', v_absent.device_id, schedule.match_tasks(p_task.id, v_absent.id), p_task.room_id, p_task.starts_at);
    IF v_absent.device_id IS NULL THEN
        PERFORM schedule.drop_task(v_absent);
        RETURN;
    END IF;
    v_absent := schedule.assign_match(
        v_absent, NULL, gen_random_uuid(), v_absent.closes_at, v_absent.starts_at + make_interval(secs => p_late_join), false);
    UPDATE schedule.task SET is_absent = true WHERE task.id = v_absent.id RETURNING * INTO v_absent;
    PERFORM schedule.notify_rematched(v_absent, NULL);
    -- An absent user probably has no stream open, and knows only the old room. So a provider notifies this user.
    PERFORM schedule.notify_partner_changed(v_absent);
END
$$;

-- Returns the tasks that start after p_after and not after p_until, and whose user waits for a partner or has an absent
-- one. Nearly all users are in a room with their partner, so these are left out before any other check.
CREATE FUNCTION schedule.tasks_to_rematch(
    p_after timestamptz, p_until timestamptz, p_patience double precision, p_grace double precision
) RETURNS SETOF schedule.task
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN QUERY
    SELECT task.* FROM schedule.reminded_tasks(p_after, p_until) AS reminded (id)
    JOIN schedule.task ON task.id = reminded.id
    CROSS JOIN LATERAL (
        SELECT
            coalesce(bool_or(attendance.task_id = task.id AND attendance.present > 0), false) AS own,
            coalesce(bool_or(
                (attendance.task_id IS NULL OR attendance.task_id = task.partner_id)
                AND (attendance.present > 0 OR attendance.changed_at > v_now - make_interval(secs => p_grace))), false) AS other
        FROM core.attendance WHERE attendance.room_id = task.room_id
    ) AS there
    WHERE CASE
        WHEN task.partner_id IS NULL THEN task.waits_until > v_now AND schedule.is_waiting(task)
        ELSE there.own AND NOT there.other AND schedule.is_partner_absent(task, p_patience, p_grace)
    END;
END
$$;

-- Returns the starts (epoch seconds) of the slots in which rematch_slot has something to do.
CREATE FUNCTION schedule.slots_to_rematch(
    p_patience double precision, p_grace double precision, p_late_join double precision
) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN QUERY
    SELECT extract(epoch FROM waiting.starts_at)::bigint
    FROM schedule.tasks_to_rematch(
        v_now - make_interval(secs => p_late_join), v_now - make_interval(secs => p_patience), p_patience, p_grace
    ) AS waiting
    GROUP BY waiting.starts_at
    -- Two tasks can be matched, a task can get a late partner from now on, or an absent user has joined.
    HAVING count(*) > 1 OR bool_or(waiting.waits_until IS NULL) OR bool_or(waiting.is_absent)
    ORDER BY waiting.starts_at;
END
$$;

-- Returns the seconds until slots_to_rematch or lapsed_invitations may next find something, as far as is known now. 0
-- or less means that they may find something at any time. NULL means that no claimed task and no task with a guest can
-- make them find something.
CREATE FUNCTION schedule.next_rematch(p_patience double precision, p_late_join double precision) RETURNS double precision
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN extract(epoch FROM least(
        schedule.next_reminded_start(v_now - make_interval(secs => p_late_join)) + make_interval(secs => p_patience),
        (SELECT task.invites_until FROM schedule.task WHERE task.invites_until IS NOT NULL ORDER BY task.invites_until LIMIT 1)
    ) - v_now);
END
$$;

-- Matches the tasks that wait in a slot. Users in a room come first, then preferred partners, then the order of
-- registration. Returns the number of new matches.
CREATE FUNCTION schedule.rematch_slot(
    p_starts_at bigint, p_patience double precision, p_grace double precision, p_late_join double precision
) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    v_pool schedule.task[] := schedule.lock_tasks_to_rematch(to_timestamp(p_starts_at), p_patience, p_grace);
    v_is_taken boolean[] := array_fill(false, ARRAY[cardinality(v_pool)]);
    v_is_any_preferred boolean := EXISTS (
        SELECT FROM unnest(v_pool) AS own
        JOIN schedule.preference ON preference.device_id = own.device_id
            AND preference.preferred_id = ANY (ARRAY(SELECT other.device_id FROM unnest(v_pool) AS other)));
    v_match integer;
    v_pairs integer := 0;
BEGIN
    FOR i IN 1..cardinality(v_pool) LOOP
        CONTINUE WHEN v_is_taken[i];
        v_match := schedule.choose_partner(v_pool, v_is_taken, i, v_is_any_preferred);
        IF v_match IS NULL THEN
            UPDATE schedule.task SET
                is_absent = false,
                waits_until = coalesce(task.waits_until, task.starts_at + make_interval(secs => p_late_join))
            WHERE task.id = v_pool[i].id AND (task.is_absent OR task.waits_until IS NULL);
        ELSE
            v_is_taken[v_match] := true;
            PERFORM schedule.rematch_tasks(v_pool[i], v_pool[v_match], p_late_join);
            v_pairs := v_pairs + 1;
        END IF;
    END LOOP;
    RETURN v_pairs;
END
$$;

-- Locks a slot and the tasks in it that wait for a partner or have an absent one, and the absent partners' tasks.
-- Returns the tasks without the absent partners', as they are after they were locked. Users in a room come first, then
-- the order of registration. Returns at most 200 tasks; the next transaction matches further ones.
CREATE FUNCTION schedule.lock_tasks_to_rematch(
    p_starts_at timestamptz, p_patience double precision, p_grace double precision
) RETURNS schedule.task[]
LANGUAGE plpgsql AS $$
DECLARE
    c_most CONSTANT integer := 200;
    v_ids uuid[];
BEGIN
    PERFORM schedule.lock_slot(p_starts_at);
    v_ids := ARRAY(
        SELECT waiting.id
        FROM schedule.tasks_to_rematch(p_starts_at - interval '1 microsecond', p_starts_at, p_patience, p_grace) AS waiting
        ORDER BY schedule.is_room_occupied(waiting) DESC, waiting.registered LIMIT c_most);
    PERFORM schedule.lock_tasks(v_ids || ARRAY(
        SELECT task.partner_id FROM schedule.task WHERE task.id = ANY (v_ids) AND task.partner_id IS NOT NULL));
    RETURN ARRAY(
        SELECT task FROM schedule.task
        WHERE task.id = ANY (v_ids) AND (schedule.is_waiting(task) OR schedule.is_partner_absent(task, p_patience, p_grace))
        ORDER BY schedule.is_room_occupied(task) DESC, task.registered);
END
$$;

-- Returns the place in p_pool of the best partner for the task at p_place: a later task that isn't taken. Returns NULL
-- if there is none. The pool is that of lock_tasks_to_rematch. p_is_any_preferred: at least one user in the pool
-- prefers another one.
CREATE FUNCTION schedule.choose_partner(
    p_pool schedule.task[], p_is_taken boolean[], p_place integer, p_is_any_preferred boolean
) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    v_one schedule.task := p_pool[p_place];
    v_match integer;
    -- How many of the two users prefer each other, for the candidate and for the best one so far.
    v_found integer;
    v_most integer;
BEGIN
    FOR j IN p_place + 1..cardinality(p_pool) LOOP
        -- The pool begins with the users in a room. A user outside a room is never chosen while one in a room is
        -- possible.
        EXIT WHEN v_match IS NOT NULL AND schedule.is_room_occupied(p_pool[v_match])
            AND NOT schedule.is_room_occupied(p_pool[j]);
        CONTINUE WHEN p_is_taken[j] OR core.is_blocked(v_one.device_id, p_pool[j].device_id)
            -- Neither of the two users could be moved to the other's room.
            OR core.has_unnamed_members(v_one.room_id) AND core.has_unnamed_members(p_pool[j].room_id);
        v_found := CASE
            WHEN p_is_any_preferred THEN schedule.preferences_between(v_one.device_id, p_pool[j].device_id)
            ELSE 0
        END;
        CONTINUE WHEN v_match IS NOT NULL AND v_found <= v_most;
        v_match := j;
        v_most := v_found;
        EXIT WHEN NOT p_is_any_preferred OR v_most = 2;
    END LOOP;
    RETURN v_match;
END
$$;

-- Matches two locked tasks of lock_tasks_to_rematch with each other, and notifies their users. The match has the room
-- of a member that named no task, because this member can't be moved, or else a new room.
CREATE FUNCTION schedule.rematch_tasks(p_one schedule.task, p_other schedule.task, p_late_join double precision)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_room uuid := CASE
        WHEN core.has_unnamed_members(p_one.room_id) THEN p_one.room_id
        WHEN core.has_unnamed_members(p_other.room_id) THEN p_other.room_id
        ELSE gen_random_uuid()
    END;
BEGIN
    PERFORM schedule.rematch_task(p_one, p_other.id, v_room, p_one.closes_at, p_late_join);
    PERFORM schedule.rematch_task(p_other, p_one.id, v_room, p_one.closes_at, p_late_join);
    PERFORM schedule.write_match_event(task, true) FROM schedule.task WHERE task.id = p_other.id;
    -- Both notifications are sent now, after both tasks have their new partner.
    PERFORM schedule.notify_rematched(moved.task, moved.was_in)
    FROM (
        SELECT task, CASE WHEN before.room_id <> v_room THEN before.room_id END AS was_in FROM schedule.task
        JOIN unnest(ARRAY[p_one, p_other]) AS before ON before.id = task.id
    ) AS moved;
END
$$;

-- Gives a waiting task a new partner and a new room. If it has an absent partner, that match is dissolved first.
CREATE FUNCTION schedule.rematch_task(
    p_task schedule.task, p_partner uuid, p_room uuid, p_closes_at timestamptz, p_late_join double precision
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_task.partner_id IS NOT NULL THEN
        PERFORM schedule.leave_absent_partner(p_task, p_late_join);
    END IF;
    PERFORM schedule.assign_match(p_task, p_partner, p_room, p_closes_at, NULL, p_task.partner_id IS NOT NULL);
END
$$;

-- Returns the task in a slot that a device may join late: one without a partner, or one whose partner is absent. Locks
-- the task, its partner, and p_own. Returns NULL if there is none. p_own is the device's task in this slot, or NULL.
CREATE FUNCTION schedule.late_partner(p_starts_at timestamptz, p_own uuid, p_device text) RETURNS schedule.task
LANGUAGE plpgsql AS $$
DECLARE
    v_found uuid := schedule.waiting_task(p_starts_at, p_own, p_device, true);
    v_is_free boolean := v_found IS NOT NULL;
    v_partner schedule.task;
BEGIN
    IF NOT v_is_free THEN
        v_found := schedule.task_with_absent_partner(p_starts_at, p_device);
    END IF;
    PERFORM schedule.lock_tasks(ARRAY[
        p_own, v_found, (SELECT task.partner_id FROM schedule.task WHERE task.id = v_found AND NOT v_is_free)]);
    v_partner := schedule.lock_chosen_task(v_found, v_is_free);
    IF v_found IS NOT NULL AND NOT v_is_free AND NOT schedule.is_partner_absent(v_partner) THEN
        RAISE 'the waiting user is no longer alone' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN v_partner;
END
$$;

-- Matches a task without a partner with a waiting task after the start. The task was registered in time, and its user
-- asks again. The task gets the title p_title, which the partner sees. Result codes: retitled; registration_closed if
-- no task waits.
CREATE FUNCTION schedule.join_late(p_task schedule.task, p_title text, p_late_join double precision)
RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_partner schedule.task := schedule.late_partner(p_task.starts_at, p_task.id, p_task.device_id);
    -- Read after it was locked, so that a completed erasure is visible.
    v_task schedule.task := schedule.lock_chosen_task(p_task.id, true);
    v_room uuid;
BEGIN
    IF v_task.device_id IS NULL OR v_task.registered <= core.erased_up_to(v_task.device_id) THEN
        RAISE 'the task was erased meanwhile' USING ERRCODE = 'serialization_failure';
    ELSIF v_partner.id IS NULL THEN
        RETURN schedule.outcome('registration_closed', v_task, NULL);
    END IF;
    v_task := schedule.retitle_waiting(v_task, p_title);
    v_room := CASE WHEN v_partner.partner_id IS NULL THEN v_partner.room_id ELSE gen_random_uuid() END;
    PERFORM schedule.rematch_task(v_partner, v_task.id, v_room, v_partner.closes_at, p_late_join);
    PERFORM schedule.rematch_task(v_task, v_partner.id, v_room, v_partner.closes_at, p_late_join);
    SELECT * INTO v_task FROM schedule.task WHERE task.id = v_task.id;
    PERFORM schedule.write_match_event(v_task, NOT schedule.is_due(v_task) OR NOT schedule.is_due(v_partner));
    IF v_room <> v_partner.room_id THEN
        PERFORM schedule.notify_rematched(task, v_partner.room_id) FROM schedule.task WHERE task.id = v_partner.id;
    END IF;
    RETURN schedule.outcome('retitled', v_task, NULL);
END
$$;
