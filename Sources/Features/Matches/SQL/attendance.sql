-- Attendance: which users were in a match's room, and when.

-- Takes the lock of presence events until the end of the transaction. Only one report at a time is written, so that
-- each event has the right number of members in the room.
CREATE FUNCTION matches.lock_presence_events() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19546::bigint << 48) $$;

-- Writes the joins and leaves of one daemon (p_writer) in matches' rooms, in order. A report with a number that the
-- daemon has already used is ignored. The arrays have one element per event:
--   p_events   room.joined or room.left
--   p_rooms    the room
--   p_tasks    the task that the member named; if it isn't a task of the room's match, the member counts as unnamed
--   p_peers    the number of members in the room after the event, on this daemon
--   p_ages     how many seconds ago the event happened
--
-- Rooms without a match and members of erased tasks are ignored. A leave counts for the task under which core.presence
-- has the member, even if the match has changed since the join.
--
-- If the other daemons considered this daemon dead while it was alive, they have already removed its members. The
-- leaves of these members aren't counted again.
CREATE FUNCTION matches.report_peers(
    p_writer uuid, p_number bigint,
    p_events text[], p_rooms uuid[], p_tasks uuid[], p_peers integer[], p_ages double precision[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_has_subscribers boolean := core.has_subscribers();
    v_rooms uuid[];
    v_tasks uuid[];
    v_gone integer[];
BEGIN
    INSERT INTO core.reporter AS known (id, number, wrote_at) VALUES (p_writer, p_number, v_now)
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, wrote_at = excluded.wrote_at, must_revert = false
    WHERE known.number < excluded.number;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF v_has_subscribers THEN
        PERFORM matches.lock_presence_events();
    END IF;
    WITH report AS MATERIALIZED (
        SELECT * FROM matches.sum_report(p_writer, v_now, p_events, p_rooms, p_tasks, p_peers, p_ages)
    ), counted AS MATERIALIZED (
        -- This transaction has locked the reporter's row, so no other transaction changes these rows.
        SELECT report.*, own.before, greatest(0, own.before + report.change) AS after
        FROM report
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(presence.connections), 0) AS before FROM core.presence
            WHERE presence.reporter_id = p_writer AND presence.room_id = report.room
                AND presence.task_id IS NOT DISTINCT FROM report.task_id
        ) AS own
    ), inserted AS (
        INSERT INTO core.presence (reporter_id, room_id, task_id, connections)
        SELECT p_writer, counted.room, counted.task_id, counted.after FROM counted
        ON CONFLICT (reporter_id, room_id, task_id) DO UPDATE SET connections = excluded.connections
    ), written AS (
        INSERT INTO core.attendance AS known
            (room_id, task_id, closes_at, joined_at, changed_at, present, visits, most_peers)
        SELECT
            counted.room, counted.task_id, counted.closes_at, counted.joined_at, counted.changed_at,
            counted.after - counted.before, counted.visits, counted.most_peers
        FROM counted
        -- In a fixed order, so that transactions don't deadlock.
        ORDER BY counted.room, counted.task_id
        ON CONFLICT (room_id, task_id) DO UPDATE SET
            changed_at = excluded.changed_at, present = known.present + excluded.present,
            visits = known.visits + excluded.visits, most_peers = greatest(known.most_peers, excluded.most_peers)
    )
    SELECT array_agg(counted.room), array_agg(counted.task_id), array_agg(-counted.before - counted.change)
    INTO v_rooms, v_tasks, v_gone FROM counted WHERE counted.before + counted.change < 0;
    DELETE FROM core.presence
    WHERE presence.reporter_id = p_writer AND presence.room_id = ANY (p_rooms) AND presence.connections = 0;
    IF v_has_subscribers THEN
        PERFORM matches.write_reported_events(
            v_now, p_events, p_rooms, p_tasks, p_peers, p_ages, v_rooms, v_tasks, v_gone);
    END IF;
END
$$;

-- Returns the changes of a report, one row for each room and task. `change` is the number of joins minus the number of
-- leaves. task_id is NULL for members that named no task of the room's match. p_at is the time of the report.
-- PostgreSQL inlines this function.
CREATE FUNCTION matches.sum_report(
    p_writer uuid, p_at timestamptz,
    p_events text[], p_rooms uuid[], p_tasks uuid[], p_peers integer[], p_ages double precision[]
) RETURNS TABLE (
    room uuid, task_id uuid, closes_at timestamptz, joined_at timestamptz, changed_at timestamptz, change bigint,
    visits bigint, most_peers integer
)
LANGUAGE sql STABLE AS $$
    SELECT
        report.room, own.task_id, max(own.closes_at) AS closes_at, min(report.at) AS joined_at,
        max(report.at) AS changed_at, sum(report.change) AS change,
        count(*) FILTER (WHERE report.change > 0) AS visits, max(report.peers) AS most_peers
    FROM (
        SELECT
            reported.room, reported.task, reported.peers, p_at - make_interval(secs => reported.age) AS at,
            CASE reported.event WHEN 'room.joined' THEN 1 ELSE -1 END AS change
        FROM unnest(p_events, p_rooms, p_tasks, p_peers, p_ages) AS reported (event, room, task, peers, age)
    ) AS report
    CROSS JOIN LATERAL (
        SELECT max(one.closes_at) AS closes_at,
            (array_agg(one.id) FILTER (WHERE one.id = report.task))[1] AS task_id,
            bool_and(one.is_erased) FILTER (WHERE one.id = report.task) AS is_erased
        FROM (
            SELECT task.id, task.closes_at, task.is_erased FROM schedule.room_task AS task
            WHERE task.room_id = report.room
            UNION ALL
            SELECT known.task_id, known.closes_at, false FROM core.presence
            JOIN core.attendance AS known
                ON known.room_id = presence.room_id AND known.task_id IS NOT DISTINCT FROM presence.task_id
            WHERE report.change < 0 AND presence.reporter_id = p_writer AND presence.room_id = report.room
                AND (presence.task_id = report.task OR presence.task_id IS NULL)
        ) AS one
    ) AS own
    WHERE own.closes_at IS NOT NULL AND own.is_erased IS NOT TRUE
    GROUP BY report.room, own.task_id
$$;

-- Writes the events of a report in order. core.attendance counts them already. The last three arrays have leaves of
-- rooms and tasks that the other daemons have already written, and the numbers of these leaves.
CREATE FUNCTION matches.write_reported_events(
    p_at timestamptz, p_events text[], p_rooms uuid[], p_tasks uuid[], p_peers integer[], p_ages double precision[],
    p_gone_rooms uuid[], p_gone_tasks uuid[], p_gone_counts integer[]
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM matches.write_presence_events(
        array_agg(reported.event ORDER BY reported.place), array_agg(reported.room ORDER BY reported.place),
        array_agg(reported.task ORDER BY reported.place),
        array_agg(p_at - make_interval(secs => reported.age) ORDER BY reported.place),
        array_agg(reported.peers ORDER BY reported.place))
    FROM (
        SELECT given.*, own.task_id,
            row_number() OVER (PARTITION BY given.event, given.room, own.task_id ORDER BY given.place) AS number
        FROM unnest(p_events, p_rooms, p_tasks, p_peers, p_ages) WITH ORDINALITY
            AS given (event, room, task, peers, age, place)
        LEFT JOIN core.attendance AS own ON own.task_id = given.task AND own.room_id = given.room
    ) AS reported
    LEFT JOIN unnest(p_gone_rooms, p_gone_tasks, p_gone_counts) AS gone (room, task, count)
        ON gone.room = reported.room AND gone.task IS NOT DISTINCT FROM reported.task_id
            AND reported.event = 'room.left'
    -- The other daemons have already written the events of these leaves.
    WHERE reported.number > coalesce(gone.count, 0);
END
$$;

-- Writes the events of joins and leaves in order. core.attendance counts them already. Each event gets the number of
-- members in the room after it, computed backwards from core.attendance. For a room without attendance that number is
-- taken from p_peers.
CREATE FUNCTION matches.write_presence_events(
    p_events text[], p_rooms uuid[], p_tasks uuid[], p_at timestamptz[], p_peers integer[]
) RETURNS void
LANGUAGE sql AS $$
    WITH given AS (
        SELECT event, room, task, at, peers, place, CASE event WHEN 'room.joined' THEN 1 ELSE -1 END AS change
        FROM unnest(p_events, p_rooms, p_tasks, p_at, p_peers) WITH ORDINALITY AS own (event, room, task, at, peers, place)
    ), reported AS (
        SELECT given.*, sum(given.change) OVER later - given.change AS later_change FROM given
        WINDOW later AS (PARTITION BY given.room ORDER BY given.place DESC ROWS UNBOUNDED PRECEDING)
    ), present AS MATERIALIZED (
        SELECT asked.room, own.connections FROM (SELECT DISTINCT given.room FROM given) AS asked
        CROSS JOIN LATERAL (
            SELECT sum(attendance.present) AS connections FROM core.attendance WHERE attendance.room_id = asked.room
        ) AS own
    ), inserted AS (
        INSERT INTO core.event (type, happened_at, room_id, task_ids, peers)
        SELECT
            reported.event, reported.at, reported.room, CASE WHEN own.task_id IS NOT NULL THEN ARRAY[own.task_id] END,
            coalesce(greatest(present.connections - reported.later_change, (reported.change > 0)::integer), reported.peers)
        FROM reported
        JOIN present ON present.room = reported.room
        -- If the task belongs to the room, it has a row in core.attendance by now.
        LEFT JOIN core.attendance AS own ON own.task_id = reported.task AND own.room_id = reported.room
        ORDER BY reported.place
        RETURNING event.id
    )
    INSERT INTO core.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT
        provider.name, false, gen_random_uuid(), inserted.id, core.clock(), core.clock(),
        core.clock() + core.event_lifetime()
    FROM inserted
    CROSS JOIN core.provider
    WHERE provider.subscribes AND provider.disabled_at IS NULL
$$;

-- Writes one event for each connection that has joined or left an open room. The arrays name rows of core.attendance.
-- p_changes is the number of connections that joined, or below zero the number that left.
CREATE FUNCTION matches.write_presence_changes(
    p_rooms uuid[], p_tasks uuid[], p_changes integer[], p_at timestamptz
) RETURNS void
LANGUAGE sql AS $$
    SELECT matches.write_presence_events(
        array_agg(CASE WHEN own.change > 0 THEN 'room.joined' ELSE 'room.left' END),
        array_agg(own.room), array_agg(own.task), array_agg(p_at), array_agg(0))
    FROM (
        SELECT given.room, given.task, given.change
        FROM unnest(p_rooms, p_tasks, p_changes) AS given (room, task, change)
        JOIN core.attendance ON attendance.room_id = given.room
            AND attendance.task_id IS NOT DISTINCT FROM given.task AND attendance.closes_at > core.clock()
        CROSS JOIN LATERAL generate_series(1, abs(given.change))
        ORDER BY given.room, given.task
    ) AS own
    HAVING count(*) > 0
$$;

-- Writes the members of a live daemon again, after the other daemons considered it dead and removed its members. The
-- arrays have the daemon's connections per room and named task, as in report_peers, for all of its rooms or a part of
-- them. They are the state after the daemon's report p_number. If a later report is already written, nothing changes.
CREATE FUNCTION matches.recount_peers(
    p_writer uuid, p_number bigint, p_rooms uuid[], p_tasks uuid[], p_connections integer[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_number bigint;
    v_has_subscribers boolean := core.has_subscribers();
    v_rooms uuid[];
    v_tasks uuid[];
    v_changes integer[];
BEGIN
    -- Takes the lock of the reporter's row. A transaction that removes the daemon's members holds this lock. A
    -- transaction that deletes the daemon's row locks the daemon's row before it.
    INSERT INTO core.reporter AS known (id, number, wrote_at) VALUES (p_writer, p_number, v_now)
    ON CONFLICT (id) DO UPDATE SET wrote_at = excluded.wrote_at
    RETURNING known.number INTO v_number;
    -- If the daemon has no row, no other daemon would later remove the members that are written here. A live daemon
    -- creates its row at the next heartbeat, and its reports count again.
    IF v_number > p_number OR NOT EXISTS (SELECT FROM core.daemon WHERE daemon.id = p_writer) THEN
        RETURN;
    END IF;
    UPDATE core.reporter SET number = p_number, must_revert = false WHERE reporter.id = p_writer;
    IF v_has_subscribers THEN
        PERFORM matches.lock_presence_events();
    END IF;
    WITH there AS MATERIALIZED (
        SELECT * FROM matches.sum_connections(v_now, p_rooms, p_tasks, p_connections)
    ), counted AS MATERIALIZED (
        SELECT there.*, there.connections - coalesce((
            SELECT sum(presence.connections) FROM core.presence
            WHERE presence.reporter_id = p_writer AND presence.room_id = there.room
                AND presence.task_id IS NOT DISTINCT FROM there.task_id
        ), 0) AS change
        FROM there
    ), inserted AS (
        INSERT INTO core.presence (reporter_id, room_id, task_id, connections)
        SELECT p_writer, counted.room, counted.task_id, counted.connections FROM counted WHERE counted.change <> 0
        ON CONFLICT (reporter_id, room_id, task_id) DO UPDATE SET connections = excluded.connections
    ), written AS (
        INSERT INTO core.attendance AS known
            (room_id, task_id, closes_at, joined_at, changed_at, present, visits, most_peers)
        SELECT
            counted.room, counted.task_id, counted.closes_at, v_now, v_now, counted.change, 1, counted.connections
        FROM counted WHERE counted.change <> 0
        -- In the same order as in report_peers.
        ORDER BY counted.room, counted.task_id
        ON CONFLICT (room_id, task_id) DO UPDATE SET
            changed_at = excluded.changed_at, present = known.present + excluded.present
    )
    SELECT array_agg(counted.room), array_agg(counted.task_id), array_agg(counted.change)
    INTO v_rooms, v_tasks, v_changes FROM counted WHERE counted.change <> 0;
    IF v_has_subscribers AND v_rooms IS NOT NULL THEN
        PERFORM matches.write_presence_changes(v_rooms, v_tasks, v_changes, v_now);
    END IF;
END
$$;

-- Returns the connections in open rooms, one row for each room and task. task_id is NULL for members that named no task
-- of the room's match. PostgreSQL inlines this function.
CREATE FUNCTION matches.sum_connections(p_now timestamptz, p_rooms uuid[], p_tasks uuid[], p_connections integer[])
RETURNS TABLE (room uuid, task_id uuid, closes_at timestamptz, connections integer)
LANGUAGE sql STABLE AS $$
    SELECT given.room, own.task_id, max(own.closes_at) AS closes_at, sum(given.connections)::integer AS connections
    FROM unnest(p_rooms, p_tasks, p_connections) AS given (room, task, connections)
    CROSS JOIN LATERAL (
        SELECT max(task.closes_at) AS closes_at, (array_agg(task.id) FILTER (WHERE task.id = given.task))[1] AS task_id,
            bool_or(task.id = given.task AND task.is_erased) AS is_erased
        FROM schedule.room_task AS task
        WHERE task.room_id = given.room
    ) AS own
    WHERE own.closes_at > p_now AND own.is_erased IS NOT TRUE
    GROUP BY given.room, own.task_id
$$;

-- Writes leaves for the members of a dead daemon, at the time of its last heartbeat, for at most p_limit rows of
-- core.presence and the others of their rooms. Returns whether it found a dead daemon. If it did, more rows may be left.
CREATE FUNCTION matches.close_presence(p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_gone core.reporter;
    v_rooms uuid[];
    v_tasks uuid[];
    v_connections integer[];
    v_has_subscribers boolean := core.has_subscribers();
BEGIN
    SELECT * INTO v_gone FROM core.reporter WHERE reporter.must_revert
    ORDER BY reporter.lost_at LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    v_rooms := ARRAY(
        SELECT DISTINCT own.room_id FROM (
            SELECT presence.room_id FROM core.presence WHERE presence.reporter_id = v_gone.id LIMIT p_limit
        ) AS own
    );
    IF v_rooms = '{}' THEN
        UPDATE core.reporter SET must_revert = false WHERE reporter.id = v_gone.id;
        RETURN true;
    END IF;
    IF v_has_subscribers THEN
        PERFORM matches.lock_presence_events();
    END IF;
    -- In the order in which reports lock these rows, and before the rows of core.presence, as everywhere.
    PERFORM FROM core.attendance
    WHERE attendance.room_id = ANY (v_rooms) ORDER BY attendance.room_id, attendance.task_id FOR UPDATE;
    WITH taken AS (
        DELETE FROM core.presence WHERE presence.reporter_id = v_gone.id AND presence.room_id = ANY (v_rooms)
        RETURNING presence.room_id, presence.task_id, presence.connections
    )
    SELECT array_agg(taken.room_id), array_agg(taken.task_id), array_agg(taken.connections)
    INTO v_rooms, v_tasks, v_connections FROM taken;
    UPDATE core.attendance
    SET present = attendance.present - taken.connections, changed_at = greatest(attendance.changed_at, v_gone.lost_at)
    FROM unnest(v_rooms, v_tasks, v_connections) AS taken (room_id, task_id, connections)
    WHERE attendance.room_id = taken.room_id AND attendance.task_id IS NOT DISTINCT FROM taken.task_id;
    IF v_has_subscribers AND v_rooms IS NOT NULL THEN
        PERFORM matches.write_presence_changes(
            v_rooms, v_tasks, ARRAY(SELECT -own.count FROM unnest(v_connections) WITH ORDINALITY AS own (count, place) ORDER BY place),
            v_gone.lost_at);
    END IF;
    RETURN true;
END
$$;
