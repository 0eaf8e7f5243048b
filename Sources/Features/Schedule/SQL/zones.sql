-- Conversion between wall-clock times and instants. p_zone is the name of a zone that PostgreSQL knows; the daemon has
-- checked it.

-- Returns the name with which AT TIME ZONE uses a zone's rules. AT TIME ZONE first looks for an abbreviation with a
-- fixed offset, so it would ignore summer time in CET, for example. The names returned here are those to which IANA
-- links these zones (the file "backward" of tzdata, since 2024b).
CREATE FUNCTION schedule.zone_rules(p_zone text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_zone
        WHEN 'CET' THEN 'Europe/Brussels'
        WHEN 'MET' THEN 'Europe/Brussels'
        WHEN 'EET' THEN 'Europe/Athens'
        WHEN 'WET' THEN 'Europe/Lisbon'
        ELSE p_zone
    END
$$;

-- Returns zone_rules of a stored zone. Returns NULL if PostgreSQL no longer knows the zone. Updates of the operating
-- system's zones can remove names, and the schedule must still work then.
CREATE FUNCTION schedule.stored_zone_rules(p_zone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_rules text := schedule.zone_rules(p_zone);
BEGIN
    PERFORM timestamp '2000-01-01' AT TIME ZONE v_rules;
    RETURN v_rules;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN NULL;
END
$$;

-- Returns the zones that PostgreSQL has files for. If a zone's name is also an abbreviation, the zone is included only
-- if both have the same times: the session's zone always has the rules of the file.
CREATE FUNCTION schedule.zone_names() RETURNS SETOF text
LANGUAGE plpgsql VOLATILE SET TimeZone = 'UTC' AS $$
DECLARE
    v_name text;
    v_abbreviations text[] := ARRAY(SELECT abbrev FROM pg_catalog.pg_timezone_abbrevs);
    -- The checked times are the last year and the next two years, so each change of the clocks in them is found.
    v_from timestamp := date_trunc('day', core.clock() AT TIME ZONE 'UTC') - interval '1 year';
BEGIN
    FOR v_name IN SELECT zone.name FROM pg_catalog.pg_timezone_names AS zone LOOP
        IF upper(v_name) = ANY (v_abbreviations) THEN
            CONTINUE WHEN schedule.stored_zone_rules(v_name) IS NULL;
            PERFORM set_config('TimeZone', v_name, true);
            CONTINUE WHEN EXISTS (
                SELECT FROM generate_series(v_from, v_from + interval '3 years', interval '7 days') AS wall
                WHERE wall AT TIME ZONE schedule.zone_rules(v_name) <> wall::timestamptz
            );
        END IF;
        RETURN NEXT v_name;
    END LOOP;
END
$$;

-- Returns the first instant at which the clocks of a zone show p_wall. Returns NULL if the clocks skip this time.
--
-- AT TIME ZONE alone returns the second instant of a time that occurs twice, and a different time for a skipped one.
-- The offset of the day before gives the first instant. The function is a single expression, so that the planner can
-- inline it: reading a day calls it for each slot.
CREATE FUNCTION schedule.first_instant(p_wall timestamp, p_zone text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN p_wall AT TIME ZONE p_zone AT TIME ZONE p_zone <> p_wall THEN NULL
        WHEN ((p_wall - interval '24 hours') AT TIME ZONE p_zone + interval '24 hours') AT TIME ZONE p_zone = p_wall
            THEN least(
                p_wall AT TIME ZONE p_zone, (p_wall - interval '24 hours') AT TIME ZONE p_zone + interval '24 hours')
        ELSE p_wall AT TIME ZONE p_zone
    END
$$;

-- Returns the first instant of a local date. Returns NULL if the zone skips the whole day (Apia, 2011-12-30).
CREATE FUNCTION schedule.midnight(p_day date, p_zone text) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_midnight timestamptz := schedule.first_instant(p_day::timestamp, p_zone);
    v_low bigint;
    v_high bigint;
    v_middle bigint;
BEGIN
    IF v_midnight IS NOT NULL THEN
        RETURN v_midnight;
    END IF;
    -- The clocks skip midnight itself. The day begins when they are put forward, which may be before the instant
    -- computed here.
    v_midnight := p_day::timestamp AT TIME ZONE p_zone;
    IF (v_midnight AT TIME ZONE p_zone)::date <> p_day THEN
        RETURN NULL;
    END IF;
    v_high := extract(epoch FROM v_midnight);
    v_low := v_high - 86400;
    WHILE v_high - v_low > 1 LOOP
        v_middle := (v_low + v_high) / 2;
        IF (to_timestamp(v_middle) AT TIME ZONE p_zone)::date < p_day THEN
            v_low := v_middle;
        ELSE
            v_high := v_middle;
        END IF;
    END LOOP;
    RETURN to_timestamp(v_high);
END
$$;

-- Returns the local date whose midnight is nearest to an instant, and that midnight.
CREATE FUNCTION schedule.nearest_day(p_instant timestamptz, p_zone text, OUT day date, OUT midnight timestamptz)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    day := (p_instant AT TIME ZONE p_zone)::date;
    midnight := schedule.midnight(day, p_zone);
    IF midnight = p_instant THEN
        RETURN;
    END IF;
    -- Two days ahead are read too, because the next day may not exist.
    SELECT candidate.day, candidate.midnight INTO day, midnight
    FROM (
        SELECT near.day, schedule.midnight(near.day, p_zone) AS midnight
        FROM (SELECT (p_instant AT TIME ZONE p_zone)::date + step AS day FROM generate_series(-1, 2) AS step) AS near
    ) AS candidate
    WHERE candidate.midnight IS NOT NULL
    ORDER BY abs(extract(epoch FROM candidate.midnight - p_instant)), candidate.day
    LIMIT 1;
END
$$;

-- Returns the local time as text: HH:MM, or HH:MM:SS if there are seconds. The function is STABLE like to_char.
-- Otherwise PostgreSQL wouldn't inline it, and would plan it again in each transaction.
CREATE FUNCTION schedule.wall_time_text(p_wall timestamp) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT to_char(p_wall, CASE WHEN extract(second FROM p_wall) = 0 THEN 'HH24:MI' ELSE 'HH24:MI:SS' END)
$$;

-- Returns the slot that a request means. A request has one of three forms:
--   p_starts_at                 the instant itself (epoch seconds)
--   p_midnight, p_time          the device's midnight (epoch seconds), and seconds on the wall clock
--   p_day, p_time               a local date (days since 1970-01-01), and seconds on the wall clock
-- `problem` is NULL, 'far_from_midnight' (more than three hours from a midnight) or 'skipped_time'.
CREATE FUNCTION schedule.resolve(
    p_zone text, p_starts_at bigint, p_midnight bigint, p_day integer, p_time integer,
    OUT starts_at timestamptz, OUT start_time text, OUT problem text
)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_zone text := schedule.zone_rules(p_zone);
    v_day date;
    v_midnight timestamptz;
    v_instant timestamptz;
BEGIN
    IF p_starts_at IS NOT NULL THEN
        starts_at := to_timestamp(p_starts_at);
        start_time := schedule.wall_time_text(starts_at AT TIME ZONE v_zone);
        RETURN;
    END IF;
    IF p_midnight IS NOT NULL THEN
        SELECT nearest.day, nearest.midnight INTO v_day, v_midnight
        FROM schedule.nearest_day(to_timestamp(p_midnight), v_zone) AS nearest;
        IF abs(extract(epoch FROM v_midnight) - p_midnight) > 10800 THEN
            problem := 'far_from_midnight';
            RETURN;
        END IF;
    ELSE
        v_day := date '1970-01-01' + p_day;
    END IF;
    v_instant := schedule.first_instant(v_day + make_interval(secs => p_time), v_zone);
    IF v_instant IS NULL THEN
        problem := 'skipped_time';
        RETURN;
    END IF;
    -- The time is counted from the device's midnight, because a phone may have newer rules for the zone than this
    -- server.
    starts_at := CASE
        WHEN p_midnight IS NULL THEN v_instant
        ELSE to_timestamp(p_midnight) + (v_instant - v_midnight)
    END;
    start_time := schedule.wall_time_text(date '1970-01-01' + make_interval(secs => p_time));
END
$$;
