-- The past tasks of a device.

-- Records that a user has begun a task. It works from the start on, and later calls change nothing. Result codes:
-- begun, not_begun (the task hasn't started), no_such_task.
CREATE FUNCTION schedule.mark_started(p_device text, p_id uuid) RETURNS schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_now timestamptz := core.clock();
    v_task schedule.task;
BEGIN
    UPDATE schedule.task SET began_at = v_now
    WHERE task.id = p_id AND task.device_id = p_device AND task.starts_at <= v_now AND task.began_at IS NULL;
    SELECT * INTO v_task FROM schedule.task WHERE task.id = p_id AND task.device_id = p_device;
    IF NOT FOUND OR v_task.registered <= core.erased_up_to(p_device) THEN
        v_outcome.code := 'no_such_task';
        RETURN v_outcome;
    END IF;
    RETURN schedule.outcome(CASE WHEN v_task.began_at IS NULL THEN 'not_begun' ELSE 'begun' END, v_task, NULL);
END
$$;

-- Returns a device's past tasks, the latest first. Instants are epoch seconds.
CREATE FUNCTION schedule.history_of(p_device text, p_limit integer) RETURNS TABLE (
    task_id uuid, title text, start_time text, time_zone text, starts_at bigint, began_at bigint,
    -- kept: the user reported the start or joined the room. dissolved: the user did neither, and the partner had left.
    -- missed: the user did neither. NULL: the user may still join.
    outcome text,
    -- Whether the partner left, or didn't join although this user did.
    was_dissolved boolean,
    -- came, late (joined after the start) or absent. NULL: the user may still join.
    attendance text,
    -- The title of the partner's task. NULL: the task has no partner, or the partner was erased.
    partner_task text
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
    v_erased bigint := core.erased_up_to(p_device);
BEGIN
    RETURN QUERY
    SELECT
        past.id, past.title, past.start_time, past.time_zone, date_part('epoch', past.starts_at)::bigint,
        date_part('epoch', past.began_at)::bigint,
        CASE
            WHEN past.began_at IS NOT NULL OR there.own THEN 'kept'
            WHEN past.closes_at > v_now THEN NULL
            WHEN past.was_dissolved THEN 'dissolved'
            ELSE 'missed'
        END,
        past.was_dissolved OR (
            past.partner_id IS NOT NULL AND past.closes_at <= v_now AND (past.began_at IS NOT NULL OR there.own)
            -- An erased partner counts as present, because its attendance was deleted.
            AND partner.device_id IS NOT NULL AND NOT there.partner AND partner.began_at IS NULL),
        CASE
            WHEN there.joined_at > past.starts_at THEN 'late'
            WHEN there.own THEN 'came'
            WHEN past.closes_at <= v_now THEN 'absent'
        END,
        (SELECT shown.title FROM schedule.visible_task AS shown WHERE shown.id = past.partner_id)
    FROM (
        SELECT * FROM schedule.task
        WHERE task.device_id = p_device AND task.starts_at <= v_now AND task.registered > v_erased
        ORDER BY task.starts_at DESC LIMIT p_limit
    ) AS past
    -- A member that named no task may be either of the two users, so it counts for both.
    CROSS JOIN LATERAL (
        SELECT
            coalesce(bool_or(attendance.task_id IS NULL OR attendance.task_id = past.id), false) AS own,
            coalesce(bool_or(attendance.task_id IS NULL OR attendance.task_id = past.partner_id), false) AS partner,
            min(attendance.joined_at) FILTER (WHERE attendance.task_id IS NULL OR attendance.task_id = past.id) AS joined_at
        FROM core.attendance WHERE attendance.room_id = past.room_id
    ) AS there
    LEFT JOIN schedule.task AS partner ON partner.id = past.partner_id
    ORDER BY past.starts_at DESC;
END
$$;
