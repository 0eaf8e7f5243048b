-- The schedule of one day, as a device sees it.

-- Returns the slots of a day in order of time. The day is given by p_midnight (an instant in epoch seconds) or by p_day
-- (a local date in days since 1970-01-01).
--
-- p_zone may be NULL. The zone is then that of the device's latest task. If p_midnight isn't a midnight in this zone,
-- or if the device has no task, the day is the 24 hours from p_midnight. The date p_day is in UTC if the device has no
-- task.
--
-- The sixteen sessions (8:00 to 23:00) are always included. With p_all, the answer also has up to 200 of the device's
-- tasks that start in the future, up to 200 that have started, and up to 50 slots of other users that the device can
-- join. These are the slots nearest to now, or to the day's beginning if that is in the future.
--
-- A device with many tasks must not make this function slow for itself or for other devices. Each part therefore limits
-- the rows that it reads, and not only the rows that it returns. Each part is a subquery that the planner can't reorder
-- and can't run for all slots at once. This matters because PostgreSQL uses a generic plan from the sixth call on, and
-- this plan must be fast for any parameters.
CREATE FUNCTION schedule.day_schedule(
    p_device text, p_zone text, p_midnight bigint, p_day integer, p_all boolean
) RETURNS TABLE (
    -- NULL, or far_from_midnight. In the latter case this row is the only one.
    problem text,
    -- The slot's time on the wall clock of the day's zone. The suffix +1 marks the second instant of a time that occurs
    -- twice.
    key text,
    task_id uuid,
    title text,
    has_own_task boolean,
    has_somebody_else boolean,
    partner_title text,
    room_id uuid
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    -- The limits of an answer besides the sessions: the device's tasks in the future, its tasks in the past, and the
    -- slots of other users.
    c_own CONSTANT integer := 200;
    c_others CONSTANT integer := 50;
    -- The limit of waiting tasks that are read to find slots of other users. The device's own tasks and tasks that are
    -- being erased count too.
    c_visited CONSTANT integer := 1000;
    v_now timestamptz := core.clock();
    v_erased bigint := core.erased_up_to(p_device);
    v_zone text := schedule.zone_rules(p_zone);
    v_day date := date '1970-01-01' + p_day;
    v_from timestamptz;
    v_to timestamptz;
    -- The difference between the device's midnight and the midnight of the zone.
    v_shift interval := interval '0';
    v_task schedule.task;
BEGIN
    IF v_zone IS NULL THEN
        SELECT schedule.stored_zone_rules(task.time_zone) INTO v_zone FROM schedule.task
        WHERE task.device_id || '' = p_device AND task.registered > v_erased ORDER BY task.registered DESC LIMIT 1;
        IF p_midnight IS NULL THEN
            v_zone := coalesce(v_zone, 'UTC');
        ELSIF v_zone IS NOT NULL AND (
            SELECT nearest.midnight <> to_timestamp(p_midnight)
            FROM schedule.nearest_day(to_timestamp(p_midnight), v_zone) AS nearest
        ) THEN
            v_zone := NULL;
        END IF;
    END IF;
    IF v_zone IS NULL THEN
        -- In UTC the wall clock and the instants have the same steps. The day is computed in UTC, and shifted so that
        -- it begins at 00:00.
        v_zone := 'UTC';
        v_from := to_timestamp(p_midnight);
        v_day := (v_from AT TIME ZONE v_zone)::date;
        v_shift := v_from - schedule.midnight(v_day, v_zone);
        v_to := v_from + interval '24 hours';
    ELSE
        IF p_midnight IS NOT NULL THEN
            SELECT nearest.day, to_timestamp(p_midnight), to_timestamp(p_midnight) - nearest.midnight
            INTO v_day, v_from, v_shift
            FROM schedule.nearest_day(to_timestamp(p_midnight), v_zone) AS nearest;
            IF abs(extract(epoch FROM v_shift)) > 10800 THEN
                problem := 'far_from_midnight';
                RETURN NEXT;
                RETURN;
            END IF;
        ELSE
            v_from := schedule.midnight(v_day, v_zone);
        END IF;
        -- The beginning of the next existing day. If the day itself doesn't exist, v_from is NULL, and the day has no
        -- tasks.
        v_to := v_shift
            + coalesce(schedule.midnight(v_day + 1, v_zone), schedule.midnight(v_day + 2, v_zone));
    END IF;

    RETURN QUERY
    WITH session AS (
        SELECT
            v_day + make_interval(hours => hour) AS wall,
            schedule.first_instant(v_day + make_interval(hours => hour), v_zone) + v_shift AS starts_at
        FROM generate_series(8, 23) AS hour
    ),
    further AS (
        (
            SELECT task.starts_at FROM schedule.task
            WHERE p_all AND task.device_id = p_device AND task.registered > v_erased
                AND task.starts_at >= greatest(v_from, v_now) AND task.starts_at < v_to
            ORDER BY task.starts_at LIMIT c_own
        )
        UNION
        (
            SELECT task.starts_at FROM schedule.task
            WHERE p_all AND task.device_id = p_device AND task.registered > v_erased
                AND task.starts_at >= v_from AND task.starts_at < least(v_to, v_now)
            ORDER BY task.starts_at DESC LIMIT c_own
        )
        UNION
        (
            SELECT single.starts_at FROM (
                SELECT task.starts_at, task.reminds_at, task.registered, task.device_id FROM schedule.task
                -- Tasks whose reminder is due are skipped: no device can join them, and there are many.
                WHERE p_all AND task.partner_id IS NULL AND task.invites_until IS NULL
                    AND task.reminds_at >= v_now
                    AND task.starts_at >= greatest(v_from, v_now) AND task.starts_at < v_to
                ORDER BY task.starts_at LIMIT c_visited
            ) AS single
            WHERE single.device_id <> p_device
                AND EXISTS (
                    SELECT FROM schedule.due
                    WHERE due.reminds_at = single.reminds_at AND due.registered = single.registered OFFSET 0
                )
                AND NOT EXISTS (
                    SELECT FROM core.erasure
                    WHERE erasure.device_id = single.device_id AND erasure.up_to >= single.registered OFFSET 0
                )
                AND NOT EXISTS (
                    SELECT FROM core.block
                    WHERE block.device_id = p_device AND block.blocked_id = single.device_id OFFSET 0
                )
                AND NOT EXISTS (
                    SELECT FROM core.block
                    WHERE block.device_id = single.device_id AND block.blocked_id = p_device OFFSET 0
                )
            ORDER BY single.starts_at LIMIT c_others
        )
    ),
    slot AS (
        SELECT session.starts_at, session.wall FROM session
        UNION ALL
        SELECT further.starts_at, (further.starts_at - v_shift) AT TIME ZONE v_zone FROM further
        WHERE NOT EXISTS (SELECT FROM session WHERE session.starts_at = further.starts_at)
    )
    SELECT
        NULL::text,
        schedule.wall_time_text(slot.wall) || CASE
            WHEN schedule.first_instant(slot.wall, v_zone) + v_shift < slot.starts_at THEN '+1' ELSE ''
        END,
        own.id,
        own.title,
        own.id IS NOT NULL,
        CASE WHEN own.id IS NOT NULL THEN own.partner_id IS NOT NULL ELSE EXISTS (
            SELECT FROM (
                SELECT task.reminds_at, task.registered, task.device_id FROM schedule.task
                WHERE task.starts_at = slot.starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
                    AND task.reminds_at >= v_now
                -- The order is that of the index. Without it the planner would choose a different plan while the table
                -- is empty.
                ORDER BY task.reminds_at LIMIT c_visited
            ) AS single
            WHERE single.device_id <> p_device
                AND EXISTS (
                    SELECT FROM schedule.due
                    WHERE due.reminds_at = single.reminds_at AND due.registered = single.registered OFFSET 0
                )
                AND NOT EXISTS (
                    SELECT FROM core.erasure
                    WHERE erasure.device_id = single.device_id AND erasure.up_to >= single.registered OFFSET 0
                )
                AND NOT EXISTS (
                    SELECT FROM core.block
                    WHERE block.device_id = p_device AND block.blocked_id = single.device_id OFFSET 0
                )
                AND NOT EXISTS (
                    SELECT FROM core.block
                    WHERE block.device_id = single.device_id AND block.blocked_id = p_device OFFSET 0
                )
            OFFSET 0
        ) END,
        partner.title,
        own.room_id
    FROM slot
    LEFT JOIN LATERAL (
        SELECT task.id, task.title, task.partner_id, task.room_id FROM schedule.task
        -- A range from a pair of values to the same pair. With this order the planner uses the right index, even while
        -- the table is nearly empty.
        WHERE (task.device_id, task.starts_at) BETWEEN (p_device, slot.starts_at) AND (p_device, slot.starts_at)
            AND task.registered > v_erased
        ORDER BY task.device_id, task.starts_at LIMIT 1
    ) AS own ON true
    LEFT JOIN LATERAL (
        SELECT visible.title FROM schedule.visible_task AS visible WHERE visible.id = own.partner_id LIMIT 1
    ) AS partner ON true
    ORDER BY coalesce(slot.starts_at, slot.wall AT TIME ZONE v_zone + v_shift), slot.wall;
END
$$;
