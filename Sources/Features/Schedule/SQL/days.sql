-- The schedule of one day, as a device sees it.
--
-- A device with many tasks must not make these functions slow for itself or for other devices. Each part therefore
-- limits the rows that it reads, and not only the rows that it returns. Each part is a subquery that the planner can't
-- reorder and can't run for all slots at once. This matters because PostgreSQL uses a generic plan from the sixth call
-- on, and this plan must be fast for any parameters. PostgreSQL inlines the parts that are SQL functions: they are
-- STABLE, and return rows.

-- A day of 24 hours, or a date in a time zone.
CREATE TYPE schedule.day_span AS (
    -- NULL, or far_from_midnight. In the latter case the other columns are NULL.
    problem text,
    -- The zone of the wall clock, as zone_rules returns it.
    zone text,
    day date,
    -- NULL: the zone skips this date, so the day has no tasks.
    begins_at timestamptz,
    ends_at timestamptz,
    -- The difference between the device's midnight and the midnight of the zone.
    shift interval
);

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
    v_now timestamptz := core.clock();
    v_erased bigint := core.erased_up_to(p_device);
    v_span schedule.day_span := schedule.span_of_day(
        schedule.zone_of_day(p_device, p_zone, p_midnight, v_erased), p_midnight, p_day);
BEGIN
    IF v_span.problem IS NOT NULL THEN
        problem := v_span.problem;
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        NULL::text,
        schedule.wall_time_text(slot.wall) || CASE
            WHEN schedule.first_instant(slot.wall, v_span.zone) + v_span.shift < slot.starts_at THEN '+1' ELSE ''
        END,
        own.id, own.title, own.id IS NOT NULL,
        CASE WHEN own.id IS NOT NULL THEN own.partner_id IS NOT NULL
            ELSE EXISTS (SELECT FROM schedule.joinable_tasks(p_device, slot.starts_at, v_now) OFFSET 0) END,
        partner.title, own.room_id
    FROM schedule.slots_of_day(p_device, v_erased, v_span, v_now, p_all) AS slot
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
    ORDER BY coalesce(slot.starts_at, slot.wall AT TIME ZONE v_span.zone + v_span.shift), slot.wall;
END
$$;

-- Returns the zone of the day that day_schedule shows, as zone_rules returns it. Returns NULL if the day is the 24
-- hours from p_midnight. Tasks up to the number p_erased are being erased.
CREATE FUNCTION schedule.zone_of_day(p_device text, p_zone text, p_midnight bigint, p_erased bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_zone text := schedule.zone_rules(p_zone);
BEGIN
    IF v_zone IS NOT NULL THEN
        RETURN v_zone;
    END IF;
    SELECT schedule.stored_zone_rules(task.time_zone) INTO v_zone FROM schedule.task
    WHERE task.device_id || '' = p_device AND task.registered > p_erased ORDER BY task.registered DESC LIMIT 1;
    IF p_midnight IS NULL THEN
        RETURN coalesce(v_zone, 'UTC');
    ELSIF v_zone IS NOT NULL AND (
        SELECT nearest.midnight <> to_timestamp(p_midnight)
        FROM schedule.nearest_day(to_timestamp(p_midnight), v_zone) AS nearest
    ) THEN
        RETURN NULL;
    END IF;
    RETURN v_zone;
END
$$;

-- Returns the day that p_midnight or p_day means in the zone p_zone. If p_zone is NULL, it is the 24 hours from
-- p_midnight.
CREATE FUNCTION schedule.span_of_day(p_zone text, p_midnight bigint, p_day integer) RETURNS schedule.day_span
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_from timestamptz := to_timestamp(p_midnight);
    v_day date := date '1970-01-01' + p_day;
    v_shift interval := interval '0';
BEGIN
    IF p_zone IS NULL THEN
        -- In UTC the wall clock and the instants have the same steps. The day is computed in UTC, and shifted so that
        -- it begins at 00:00.
        v_day := (v_from AT TIME ZONE 'UTC')::date;
        RETURN ROW(
            NULL, 'UTC', v_day, v_from, v_from + interval '24 hours', v_from - schedule.midnight(v_day, 'UTC')
        )::schedule.day_span;
    ELSIF p_midnight IS NOT NULL THEN
        SELECT nearest.day, v_from - nearest.midnight INTO v_day, v_shift
        FROM schedule.nearest_day(v_from, p_zone) AS nearest;
        IF abs(extract(epoch FROM v_shift)) > 10800 THEN
            RETURN ROW('far_from_midnight', NULL, NULL, NULL, NULL, NULL)::schedule.day_span;
        END IF;
    ELSE
        v_from := schedule.midnight(v_day, p_zone);
    END IF;
    RETURN ROW(
        NULL, p_zone, v_day, v_from,
        -- The beginning of the next existing day.
        v_shift + coalesce(schedule.midnight(v_day + 1, p_zone), schedule.midnight(v_day + 2, p_zone)), v_shift
    )::schedule.day_span;
END
$$;

-- Returns the slots of a day, with their times on the wall clock: the sixteen sessions, and with p_all also those of
-- further_starts. A session that the zone skips has no start.
CREATE FUNCTION schedule.slots_of_day(
    p_device text, p_erased bigint, p_span schedule.day_span, p_now timestamptz, p_all boolean
) RETURNS TABLE (starts_at timestamptz, wall timestamp)
LANGUAGE sql STABLE AS $$
    WITH session AS (
        SELECT
            p_span.day + make_interval(hours => hour) AS wall,
            schedule.first_instant(p_span.day + make_interval(hours => hour), p_span.zone) + p_span.shift AS starts_at
        FROM generate_series(8, 23) AS hour
    )
    SELECT session.starts_at, session.wall FROM session
    UNION ALL
    SELECT further.starts_at, (further.starts_at - p_span.shift) AT TIME ZONE p_span.zone
    FROM schedule.further_starts(p_device, p_erased, p_span.begins_at, p_span.ends_at, p_now) AS further
    WHERE p_all AND NOT EXISTS (SELECT FROM session WHERE session.starts_at = further.starts_at)
$$;

-- Returns the starts of the slots of a day besides the sessions: up to 200 of the device's tasks in the future, up to
-- 200 in the past, and up to 50 slots of other users that the device can join.
CREATE FUNCTION schedule.further_starts(
    p_device text, p_erased bigint, p_from timestamptz, p_to timestamptz, p_now timestamptz
) RETURNS TABLE (starts_at timestamptz)
LANGUAGE sql STABLE AS $$
    (
        SELECT task.starts_at FROM schedule.task
        WHERE task.device_id = p_device AND task.registered > p_erased
            AND task.starts_at >= greatest(p_from, p_now) AND task.starts_at < p_to
        ORDER BY task.starts_at LIMIT 200
    )
    UNION
    (
        SELECT task.starts_at FROM schedule.task
        WHERE task.device_id = p_device AND task.registered > p_erased
            AND task.starts_at >= p_from AND task.starts_at < least(p_to, p_now)
        ORDER BY task.starts_at DESC LIMIT 200
    )
    UNION
    (
        SELECT single.starts_at FROM (
            SELECT task.starts_at, task.reminds_at, task.registered, task.device_id FROM schedule.task
            -- Tasks whose reminder is due are skipped: no device can join them, and there are many.
            WHERE task.partner_id IS NULL AND task.invites_until IS NULL AND task.reminds_at >= p_now
                AND task.starts_at >= greatest(p_from, p_now) AND task.starts_at < p_to
            -- The device's own tasks and tasks that are being erased count too.
            ORDER BY task.starts_at LIMIT 1000
        ) AS single
        CROSS JOIN LATERAL schedule.if_joinable(p_device, single.device_id, single.reminds_at, single.registered)
        ORDER BY single.starts_at LIMIT 50
    )
$$;

-- Returns the waiting tasks in a slot that a device can join. Of the tasks in the slot, the first 1,000 are read.
CREATE FUNCTION schedule.joinable_tasks(p_device text, p_starts_at timestamptz, p_now timestamptz)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE AS $$
    SELECT joinable.id FROM (
        SELECT task.reminds_at, task.registered, task.device_id FROM schedule.task
        WHERE task.starts_at = p_starts_at AND task.partner_id IS NULL AND task.invites_until IS NULL
            AND task.reminds_at >= p_now
        -- The order is that of the index. Without it the planner would choose a different plan while the table is
        -- empty.
        ORDER BY task.reminds_at LIMIT 1000
    ) AS single
    CROSS JOIN LATERAL schedule.if_joinable(p_device, single.device_id, single.reminds_at, single.registered) AS joinable
$$;

-- Returns a waiting task if the device p_device can join it: another device has the task, it isn't claimed or being
-- erased, and there is no block between the two devices. Otherwise returns no row. p_reminds_at and p_registered are
-- those of the task, and p_other is its device.
CREATE FUNCTION schedule.if_joinable(p_device text, p_other text, p_reminds_at timestamptz, p_registered bigint)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT due.task_id FROM schedule.due
    WHERE p_other <> p_device AND due.reminds_at = p_reminds_at AND due.registered = p_registered
        AND NOT EXISTS (
            SELECT FROM core.erasure
            WHERE erasure.device_id = p_other AND erasure.up_to >= p_registered OFFSET 0
        )
        AND NOT EXISTS (
            SELECT FROM core.block
            WHERE block.device_id = p_device AND block.blocked_id = p_other OFFSET 0
        )
        AND NOT EXISTS (
            SELECT FROM core.block
            WHERE block.device_id = p_other AND block.blocked_id = p_device OFFSET 0
        )
    OFFSET 0
$$;
