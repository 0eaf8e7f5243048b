-- A device's day, and what a room's UUID means.

-- The day is one of two: p_midnight (an instant), or p_day (a local date, days since 1970-01-01). p_zone may be NULL: then
-- the device's latest task tells, if the instant is a midnight there; else the day is the 24 hours from p_midnight, or
-- the date in UTC.
-- Rows are in time order. The sixteen sessions are always there; with p_all also the device's other tasks and other slots to join.
CREATE FUNCTION letsswitch.day_schedule(
    p_device text, p_zone text, p_midnight bigint, p_day integer, p_all boolean
) RETURNS TABLE (
    -- NULL, or far_from_midnight: then this row is the only one.
    problem text,
    -- The wall clock of the day's zone; +1 marks the second of a repeated time.
    key text,
    task_id uuid,
    title text,
    has_own_task boolean,
    has_somebody_else boolean,
    partner_title text,
    room_id uuid
)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    -- What one answer holds at most beside the sessions.
    c_limit CONSTANT integer := 2000;
    v_now timestamptz := letsswitch.clock();
    v_zone text := p_zone;
    v_day date := date '1970-01-01' + p_day;
    v_from timestamptz;
    v_to timestamptz;
    -- How far the device's midnight is from the zone's.
    v_shift interval := interval '0';
    v_task letsswitch.task;
BEGIN
    IF v_zone IS NULL THEN
        SELECT task.time_zone INTO v_zone FROM letsswitch.task
        WHERE task.device_id = p_device ORDER BY task.registered DESC LIMIT 1;
        IF p_midnight IS NULL THEN
            v_zone := coalesce(v_zone, 'UTC');
        ELSIF v_zone IS NOT NULL AND (
            SELECT nearest.midnight <> to_timestamp(p_midnight)
            FROM letsswitch.nearest_day(to_timestamp(p_midnight), v_zone) AS nearest
        ) THEN
            v_zone := NULL;
        END IF;
    END IF;
    IF v_zone IS NULL THEN
        -- Wall clock and instants run alike in UTC: the day is read there, moved so that it begins at 00:00.
        v_zone := 'UTC';
        v_from := to_timestamp(p_midnight);
        v_day := (v_from AT TIME ZONE v_zone)::date;
        v_shift := v_from - letsswitch.midnight(v_day, v_zone);
        v_to := v_from + interval '24 hours';
    ELSE
        IF p_midnight IS NOT NULL THEN
            SELECT nearest.day, to_timestamp(p_midnight), to_timestamp(p_midnight) - nearest.midnight
            INTO v_day, v_from, v_shift
            FROM letsswitch.nearest_day(to_timestamp(p_midnight), v_zone) AS nearest;
            IF abs(extract(epoch FROM v_shift)) > 10800 THEN
                problem := 'far_from_midnight';
                RETURN NEXT;
                RETURN;
            END IF;
        ELSE
            v_from := letsswitch.midnight(v_day, v_zone);
        END IF;
        -- The next day that exists. A day that doesn't (v_from is NULL) has nothing in it.
        v_to := v_shift
            + coalesce(letsswitch.midnight(v_day + 1, v_zone), letsswitch.midnight(v_day + 2, v_zone));
    END IF;

    RETURN QUERY
    WITH session AS (
        SELECT
            v_day + make_interval(hours => hour) AS wall,
            letsswitch.first_instant(v_day + make_interval(hours => hour), v_zone) + v_shift AS starts_at
        FROM generate_series(8, 23) AS hour
    ),
    further AS (
        (
            SELECT task.starts_at FROM letsswitch.task
            WHERE p_all AND task.device_id = p_device AND task.starts_at >= v_from AND task.starts_at < v_to
            ORDER BY task.starts_at LIMIT c_limit
        )
        UNION
        (
            SELECT task.starts_at FROM letsswitch.task
            JOIN letsswitch.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
            -- What has started is not looked at: nobody ever joined, and the past is long.
            WHERE p_all AND task.partner_id IS NULL
                AND task.starts_at >= greatest(v_from, v_now) AND task.starts_at < v_to
                AND task.device_id <> p_device AND task.reminds_at >= v_now
            ORDER BY task.starts_at LIMIT c_limit
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
        letsswitch.clock_face(slot.wall) || CASE
            WHEN letsswitch.first_instant(slot.wall, v_zone) + v_shift < slot.starts_at THEN '+1' ELSE ''
        END,
        own.id,
        own.title,
        own.id IS NOT NULL,
        CASE WHEN own.id IS NOT NULL THEN own.partner_id IS NOT NULL ELSE EXISTS (
            SELECT FROM letsswitch.task AS other
            JOIN letsswitch.due ON due.reminds_at = other.reminds_at AND due.registered = other.registered
            WHERE other.starts_at = slot.starts_at AND other.partner_id IS NULL
                AND other.device_id <> p_device AND other.reminds_at >= v_now
        ) END,
        partner.title,
        own.room_id
    FROM slot
    LEFT JOIN letsswitch.task AS own ON own.device_id = p_device AND own.starts_at = slot.starts_at
    LEFT JOIN letsswitch.task AS partner ON partner.id = own.partner_id
    ORDER BY coalesce(slot.starts_at, slot.wall AT TIME ZONE v_zone + v_shift), slot.wall;
END
$$;

-- state: open, not_open (opens_at tells when), closed, unknown. Instants are epoch seconds.
CREATE FUNCTION letsswitch.find_room(
    p_room uuid,
    OUT state text, OUT opens_at double precision, OUT closes_at double precision, OUT now double precision
)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_room record;
BEGIN
    now := extract(epoch FROM v_now);
    SELECT
        count(task.partner_id) > 0 AS is_paired,
        min(task.reminds_at) AS opens_at,
        max(task.closes_at) AS closes_at,
        count(due.task_id) < count(*) AS is_claimed
    INTO v_room
    FROM letsswitch.task
    LEFT JOIN letsswitch.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
    WHERE task.room_id = p_room;
    state := CASE
        -- A task that nobody joined has a room until its reminder only.
        WHEN NOT v_room.is_paired AND (v_room.is_claimed OR v_room.opens_at <= v_now) THEN 'unknown'
        WHEN v_room.closes_at <= v_now THEN 'closed'
        WHEN v_room.is_claimed THEN 'open'
        WHEN v_room.opens_at IS NOT NULL THEN 'not_open'
        ELSE 'unknown'
    END;
    IF state <> 'unknown' THEN
        opens_at := extract(epoch FROM v_room.opens_at);
        closes_at := extract(epoch FROM v_room.closes_at);
    END IF;
END
$$;
