-- Series: the same task on certain days of every week. The tasks are created two weeks ahead, at the same local time.
--
-- register_task creates and matches the tasks, so they are ordinary tasks. Each day is handled once: a cancelled task
-- isn't created again, and a slot in which the device has another task is skipped.
--
-- A transaction that starts a series or creates tasks of a series holds lock_device of the device. A transaction that
-- changes a series or creates its tasks then locks the row of the series, then all its slots in order of time, then
-- `due` rows in order of start, as in tasks.sql. Erasing a device deletes its series before it reads its tasks.

-- Whether a series has a task on p_day. p_days has one bit per day of the week, and bit 0 is Monday.
CREATE FUNCTION schedule.is_series_day(p_days integer, p_day date) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT (p_days >> (extract(isodow FROM p_day)::integer - 1)) & 1 = 1 $$;

-- Returns when the tasks of the next day are created: between three and four o'clock at night in the zone. Each series
-- has its own second in this hour.
CREATE FUNCTION schedule.next_series_check(p_series uuid, p_today date, p_zone text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT (p_today + 1 + interval '3 hours' + interval '1 second' * (abs(hashtext(p_series::text)::bigint) % 3600)) AT TIME ZONE p_zone
$$;

-- Returns a device's series and locks its row. Returns NULL if the device has no such series.
CREATE FUNCTION schedule.lock_series(p_device text, p_id uuid) RETURNS schedule.series
LANGUAGE plpgsql AS $$
DECLARE
    v_series schedule.series;
BEGIN
    SELECT * INTO v_series FROM schedule.series
    WHERE series.id = p_id AND series.device_id = p_device FOR UPDATE;
    RETURN v_series;
END
$$;

-- Returns a series' tasks that haven't started, in order of time.
CREATE FUNCTION schedule.tasks_of_series(p_series schedule.series) RETURNS SETOF schedule.task
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_erased bigint := core.erased_up_to(p_series.device_id);
BEGIN
    RETURN QUERY
    SELECT * FROM schedule.task
    WHERE task.device_id = p_series.device_id AND task.starts_at > v_now AND task.series_id = p_series.id
        AND task.registered > v_erased
    ORDER BY task.starts_at;
END
$$;

-- Returns a device's series in order of their time of day. Each series has one row per task that hasn't started, or one
-- row without a task.
CREATE FUNCTION schedule.list_series(p_device text) RETURNS TABLE (
    listed_id uuid, listed_title text, later_title text, later_from integer, wall_time integer, listed_zone text, days integer,
    until integer, promise schedule.task_outcome
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
    v_erased bigint := core.erased_up_to(p_device);
BEGIN
    PERFORM schedule.touch_device(p_device, v_now);
    RETURN QUERY
    -- Reads the device's tasks once, and not once per series.
    WITH own AS MATERIALIZED (
        SELECT task.series_id, array_agg(task ORDER BY task.starts_at) AS tasks FROM schedule.task
        WHERE task.device_id = p_device AND task.starts_at > v_now AND task.registered > v_erased AND task.series_id IS NOT NULL
        GROUP BY task.series_id
    )
    SELECT series.id, series.title, series.later_title, series.later_from - date '1970-01-01', series.wall_time, series.time_zone,
        series.days, series.until - date '1970-01-01', promised.outcome
    FROM schedule.series
    LEFT JOIN own ON own.series_id = series.id
    LEFT JOIN LATERAL (
        SELECT made.starts_at, schedule.outcome('promised', made, NULL) AS outcome FROM unnest(own.tasks) AS made
    ) AS promised ON true
    WHERE series.device_id = p_device
    ORDER BY series.wall_time, series.id, promised.starts_at;
END
$$;

-- Creates a series' tasks for the days from today up to p_days later. The caller has locked the row of the series.
-- Returns the new tasks (created). A task that exceeds the limits p_most or p_horizon is created on a later day.
CREATE FUNCTION schedule.extend_series(
    p_series schedule.series, p_days integer, p_lead double precision, p_horizon double precision,
    p_room_duration double precision, p_most integer
) RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_zone text := schedule.stored_zone_rules(p_series.time_zone);
    v_now timestamptz := core.clock();
    v_today date := (v_now AT TIME ZONE coalesce(v_zone, 'UTC'))::date;
    v_made_to date := p_series.created_until;
    v_slots timestamptz[];
    v_days date[];
BEGIN
    IF v_zone IS NOT NULL THEN
        -- A time that the clocks skip on a day has no task on that day. Of a time that occurs twice the first instant
        -- is used.
        SELECT array_agg(made.starts_at ORDER BY made.day), array_agg(made.day ORDER BY made.day) INTO v_slots, v_days
        FROM (
            SELECT wanted.day, schedule.first_instant(wanted.day + make_interval(secs => p_series.wall_time), v_zone) AS starts_at
            FROM (
                SELECT v_today + step AS day FROM generate_series(0, p_days) AS step
                WHERE v_today + step > p_series.created_until AND v_today + step <= coalesce(p_series.until, 'infinity')
            ) AS wanted
            WHERE schedule.is_series_day(p_series.days, wanted.day)
        ) AS made
        WHERE made.starts_at >= v_now + make_interval(secs => p_lead);
        FOR i IN 1..coalesce(cardinality(v_slots), 0) LOOP
            PERFORM schedule.lock_slot(v_slots[i]);
        END LOOP;
        v_made_to := greatest(v_made_to, v_today + p_days);
        FOR i IN 1..coalesce(cardinality(v_slots), 0) LOOP
            CONTINUE WHEN EXISTS (
                SELECT FROM schedule.task
                WHERE task.device_id = p_series.device_id AND task.starts_at = v_slots[i]
                    AND task.registered > core.erased_up_to(p_series.device_id));
            v_outcome := schedule.register_task(
                p_series.device_id, CASE WHEN v_days[i] >= p_series.later_from THEN p_series.later_title ELSE p_series.title END,
                p_series.time_zone, extract(epoch FROM v_slots[i])::bigint, NULL, NULL, NULL, p_lead, p_horizon, p_room_duration, p_most);
            IF v_outcome.code IN ('too_many_tasks', 'too_far_ahead') THEN
                v_made_to := greatest(p_series.created_until, v_days[i] - 1);
                EXIT;
            END IF;
            CONTINUE WHEN v_outcome.code <> 'created';
            UPDATE schedule.task SET series_id = p_series.id, series_day = v_days[i] WHERE task.id = v_outcome.id;
            v_outcome.series_id := p_series.id;
            RETURN NEXT v_outcome;
        END LOOP;
    END IF;
    UPDATE schedule.series SET
        created_until = v_made_to,
        title = CASE WHEN v_made_to >= series.later_from - 1 THEN series.later_title ELSE series.title END,
        later_title = CASE WHEN v_made_to < series.later_from - 1 THEN series.later_title END,
        later_from = CASE WHEN v_made_to < series.later_from - 1 THEN series.later_from END,
        next_check_at = schedule.next_series_check(series.id, v_today, coalesce(v_zone, 'UTC'))
    WHERE series.id = p_series.id;
END
$$;

-- Creates a series and its first tasks. p_wall_time is in seconds since midnight on the zone's wall clock.
-- p_days_of_week has one bit per day, and bit 0 is Monday. p_until is a local date in days since 1970-01-01. p_days is
-- the number of days for which tasks are created ahead.
--
-- The first row has the result and no task: begun, repeated (the series exists), or a refusal: series_exists,
-- until_past, too_many_series, too_many_tasks. series_exists means that another series has the same time on some of
-- these days. Both would share a task, which would be cancelled with either of them. The other rows are the new tasks
-- (created).
CREATE FUNCTION schedule.begin_series(
    p_id uuid, p_device text, p_title text, p_wall_time integer, p_zone text, p_days_of_week integer, p_until integer,
    p_days integer, p_lead double precision, p_horizon double precision, p_room_duration double precision,
    p_most integer, p_most_series integer
) RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_series schedule.series;
    v_now timestamptz;
    v_today date;
BEGIN
    PERFORM core.lock_erasing_shared(p_device);
    PERFORM core.lock_device(p_device);
    v_now := core.clock();
    PERFORM schedule.touch_device(p_device, v_now);
    v_today := (v_now AT TIME ZONE schedule.zone_rules(p_zone))::date;
    -- Series that are over are deleted, so that they conflict with no new series.
    DELETE FROM schedule.series WHERE series.device_id = p_device AND series.until < v_today - 1;
    SELECT * INTO v_series FROM schedule.series
    WHERE series.device_id = p_device AND series.wall_time = p_wall_time AND series.time_zone = p_zone
        AND series.days & p_days_of_week <> 0
    ORDER BY series.days <> p_days_of_week LIMIT 1;
    v_outcome.code := CASE
        WHEN FOUND THEN CASE
            WHEN v_series.days = p_days_of_week AND p_title IN (v_series.title, v_series.later_title)
                AND v_series.until IS NOT DISTINCT FROM date '1970-01-01' + p_until THEN 'repeated'
            ELSE 'series_exists'
        END
        WHEN date '1970-01-01' + p_until < v_today THEN 'until_past'
        WHEN p_most_series <= (SELECT count(*) FROM schedule.series WHERE series.device_id = p_device) THEN 'too_many_series'
        WHEN schedule.has_open_tasks(p_device, p_most, v_now) THEN 'too_many_tasks'
        ELSE 'begun'
    END;
    IF v_outcome.code = 'begun' THEN
        INSERT INTO schedule.series (id, device_id, title, wall_time, time_zone, days, until, created_until, next_check_at, used_at)
        VALUES (
            p_id, p_device, p_title, p_wall_time, p_zone, p_days_of_week, date '1970-01-01' + p_until, v_today - 1, v_now, v_now)
        RETURNING * INTO v_series;
    END IF;
    RETURN NEXT v_outcome;
    IF v_outcome.code = 'begun' THEN
        RETURN QUERY SELECT * FROM schedule.extend_series(v_series, p_days, p_lead, p_horizon, p_room_duration, p_most);
    END IF;
END
$$;

-- Renames a series from the day p_from on (days since 1970-01-01); NULL means today. A task that is too close to its
-- start keeps its title. The first row has the result: renamed or no_such_series. The other rows are the tasks with a
-- new title (retitled).
CREATE FUNCTION schedule.rename_series(p_device text, p_id uuid, p_title text, p_from integer)
RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_series schedule.series := schedule.lock_series(p_device, p_id);
    v_from date := date '1970-01-01' + p_from;
    v_task schedule.task;
    v_tasks schedule.task[];
BEGIN
    v_outcome.code := CASE WHEN v_series.id IS NULL THEN 'no_such_series' ELSE 'renamed' END;
    RETURN NEXT v_outcome;
    IF v_series.id IS NULL THEN
        RETURN;
    END IF;
    IF v_from > v_series.created_until + 1 THEN
        UPDATE schedule.series SET later_title = p_title, later_from = v_from WHERE series.id = p_id;
        RETURN;
    END IF;
    UPDATE schedule.series SET title = p_title, later_title = NULL, later_from = NULL WHERE series.id = p_id;
    v_tasks := ARRAY(
        SELECT task FROM schedule.tasks_of_series(v_series) AS task
        WHERE task.series_day >= coalesce(v_from, '-infinity') AND task.title <> p_title
        ORDER BY task.starts_at);
    FOREACH v_task IN ARRAY v_tasks LOOP
        PERFORM schedule.lock_slot(v_task.starts_at);
    END LOOP;
    FOREACH v_task IN ARRAY v_tasks LOOP
        -- A locked task can't be cancelled or moved in the meantime, so register_task finds it and changes its title.
        CONTINUE WHEN NOT schedule.lock_if_waiting(v_task);
        CONTINUE WHEN NOT EXISTS (
            SELECT FROM schedule.task WHERE task.id = v_task.id AND task.registered = v_task.registered AND task.device_id = p_device);
        v_outcome := schedule.register_task(
            -- register_task doesn't use the zone of a task that exists. The task's own zone may no longer exist.
            p_device, p_title, 'UTC', extract(epoch FROM v_task.starts_at)::bigint, NULL, NULL, NULL, 0, 0, 0);
        IF v_outcome.code = 'retitled' THEN
            UPDATE schedule.task SET series_id = p_id, series_day = v_task.series_day WHERE task.id = v_task.id;
            v_outcome.series_id := p_id;
            RETURN NEXT v_outcome;
        END IF;
    END LOOP;
END
$$;

-- Ends a series, and cancels its tasks that haven't started. The first row has the result: ended or no_such_series. The
-- other rows are the tasks: cancelled, or kept for a reason (has_partner, registration_closed).
CREATE FUNCTION schedule.end_series(p_device text, p_id uuid) RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_series schedule.series := schedule.lock_series(p_device, p_id);
    v_task schedule.task;
BEGIN
    v_outcome.code := CASE WHEN v_series.id IS NULL THEN 'no_such_series' ELSE 'ended' END;
    RETURN NEXT v_outcome;
    FOR v_task IN SELECT * FROM schedule.tasks_of_series(v_series) LOOP
        v_outcome := schedule.cancel_task(p_device, v_task.id, NULL, NULL, NULL, NULL, NULL);
        CONTINUE WHEN v_outcome.id IS NULL;
        RETURN NEXT v_outcome;
    END LOOP;
    DELETE FROM schedule.series WHERE series.id = v_series.id;
END
$$;

-- Moves those tasks of a series that no longer start at the series' local time, because the rules of the zone have
-- changed. The caller has locked the row of the series. Returns the rows of move_task.
CREATE FUNCTION schedule.realign_series(
    p_series schedule.series, p_lead double precision, p_horizon double precision, p_room_duration double precision,
    p_late_join double precision
) RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_zone text := schedule.stored_zone_rules(p_series.time_zone);
    v_ids uuid[];
    v_from timestamptz[];
    v_to timestamptz[];
    v_task schedule.task;
    v_is_moved boolean;
    v_outcome schedule.task_outcome;
BEGIN
    SELECT array_agg(shifted.id), array_agg(shifted.starts_at), array_agg(shifted.meant_at) INTO v_ids, v_from, v_to
    FROM (
        SELECT task.id, task.starts_at,
            schedule.first_instant(task.series_day + make_interval(secs => p_series.wall_time), v_zone) AS meant_at
        FROM schedule.tasks_of_series(p_series) AS task
        WHERE v_zone IS NOT NULL AND task.partner_id IS NULL
        ORDER BY task.starts_at
    ) AS shifted
    WHERE shifted.meant_at <> shifted.starts_at;
    FOR i IN 1..coalesce(cardinality(v_ids), 0) LOOP
        PERFORM schedule.lock_slot(least(v_from[i], v_to[i]));
        PERFORM schedule.lock_slot(greatest(v_from[i], v_to[i]));
    END LOOP;
    FOR i IN 1..coalesce(cardinality(v_ids), 0) LOOP
        -- A task with a partner isn't moved.
        SELECT * INTO v_task FROM schedule.task WHERE task.id = v_ids[i];
        CONTINUE WHEN v_task.partner_id IS NOT NULL OR v_task.starts_at IS DISTINCT FROM v_from[i];
        v_is_moved := false;
        FOR v_outcome IN
            SELECT * FROM schedule.move_task(
                p_series.device_id, v_task.id, p_series.time_zone, extract(epoch FROM v_to[i])::bigint, NULL, NULL, NULL, p_lead,
                p_horizon, p_room_duration, p_late_join)
        LOOP
            v_is_moved := v_is_moved OR v_outcome.code = 'moved';
            CONTINUE WHEN NOT v_is_moved;
            IF v_outcome.code = 'moved' THEN
                UPDATE schedule.task SET series_id = p_series.id, series_day = v_task.series_day WHERE task.id = v_task.id;
            END IF;
            RETURN NEXT v_outcome;
        END LOOP;
    END LOOP;
END
$$;

-- Whether a task of the series can't move to its local time, because a task of another series has this slot. The other
-- series will move its task too.
CREATE FUNCTION schedule.waits_for_another(p_series schedule.series) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_zone text := schedule.stored_zone_rules(p_series.time_zone);
BEGIN
    RETURN EXISTS (
        SELECT FROM schedule.tasks_of_series(p_series) AS own
        CROSS JOIN LATERAL (
            SELECT schedule.first_instant(own.series_day + make_interval(secs => p_series.wall_time), v_zone) AS starts_at
        ) AS meant
        JOIN schedule.task AS other ON other.device_id = p_series.device_id AND other.starts_at = meant.starts_at
        WHERE own.partner_id IS NULL AND own.starts_at <> meant.starts_at AND other.series_id <> p_series.id);
END
$$;

-- Creates the next tasks of one series that is due for a check. Series with a locked row, or whose device's lock is
-- taken, are skipped.
--
-- The first row (checked) says that a series was found. If no row is returned, no series is left. The other rows are
-- the tasks: created, or those of move_task. If an error occurs, this series is retried after an hour, and other series
-- continue. A series whose user hasn't used the schedule for p_unused seconds is deleted, and its tasks stay.
CREATE FUNCTION schedule.extend_next_series(
    p_days integer, p_lead double precision, p_horizon double precision, p_room_duration double precision,
    p_late_join double precision, p_most integer, p_unused double precision
) RETURNS SETOF schedule.task_outcome
LANGUAGE plpgsql AS $$
DECLARE
    v_outcome schedule.task_outcome;
    v_now timestamptz := core.clock();
    v_next record;
    v_series schedule.series;
BEGIN
    FOR v_next IN
        SELECT series.id, series.device_id FROM schedule.series WHERE series.next_check_at <= v_now ORDER BY series.next_check_at LIMIT 50
    LOOP
        -- move_task and register_task take these locks too, but only after the row of the series, which would be the
        -- wrong order.
        PERFORM core.lock_erasing_shared(v_next.device_id);
        CONTINUE WHEN NOT core.try_lock_device(v_next.device_id);
        SELECT * INTO v_series FROM schedule.series
        WHERE series.id = v_next.id AND series.next_check_at <= v_now FOR UPDATE SKIP LOCKED;
        EXIT WHEN FOUND;
    END LOOP;
    IF v_series.id IS NULL THEN
        RETURN;
    END IF;
    v_outcome.code := 'checked';
    RETURN NEXT v_outcome;
    -- Two days after the date `until`, that day is over in every zone.
    IF v_series.until < (v_now AT TIME ZONE 'UTC')::date - 2 THEN
        DELETE FROM schedule.series WHERE series.id = v_series.id;
        RETURN;
    ELSIF v_series.used_at < v_now - make_interval(secs => p_unused) THEN
        IF NOT schedule.is_in_use(v_series.device_id) THEN
            DELETE FROM schedule.series WHERE series.id = v_series.id;
            RETURN;
        END IF;
        UPDATE schedule.series SET used_at = v_now WHERE series.id = v_series.id;
    END IF;
    BEGIN
        RETURN QUERY SELECT * FROM schedule.realign_series(v_series, p_lead, p_horizon, p_room_duration, p_late_join);
        RETURN QUERY SELECT * FROM schedule.extend_series(v_series, p_days, p_lead, p_horizon, p_room_duration, p_most);
        IF schedule.waits_for_another(v_series) THEN
            UPDATE schedule.series SET next_check_at = least(series.next_check_at, v_now + interval '10 minutes') WHERE series.id = v_series.id;
        END IF;
    EXCEPTION WHEN OTHERS THEN
        IF core.is_transient_error(SQLSTATE) THEN
            RAISE;
        END IF;
        RAISE WARNING 'series % can''t be continued: % (%)', v_series.id, SQLERRM, SQLSTATE;
        UPDATE schedule.series SET next_check_at = v_now + interval '1 hour' WHERE series.id = v_series.id;
    END;
END
$$;
