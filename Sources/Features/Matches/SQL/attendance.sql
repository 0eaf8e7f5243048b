-- Attendance: who was in a match's room, from when to when.

-- One report of joins and leaves at a time, so that each event has the number of members in the room.
CREATE FUNCTION matches.lock_presence_events() RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19546::bigint << 48) $$;

-- Writes joins and leaves in matches' rooms, in order. The arrays have one element per event: p_peers is the number of
-- peers in the room afterwards on that daemon; p_tasks is the task that the peer named, which counts if it is one of
-- the room's; p_ages is how many seconds ago it was. Other rooms and erased users are ignored. A user who was there
-- before the match ended, or is there according to the table, leaves as that user. A report that p_writer, the daemon,
-- has already written, by its number, isn't written again.
--
-- If the other daemons considered a live daemon dead, they removed its members. Their leaves aren't counted again.
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
        SELECT
            report.room, own.task_id, max(own.closes_at) AS closes_at, min(report.at) AS joined_at,
            max(report.at) AS changed_at, sum(report.change) AS change,
            count(*) FILTER (WHERE report.change > 0) AS visits, max(report.peers) AS most_peers
        FROM (
            SELECT
                reported.room, reported.task, reported.peers, v_now - make_interval(secs => reported.age) AS at,
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
    ), counted AS MATERIALIZED (
        -- The reporter's row is locked, so nobody else changes these.
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
        -- In one order, so that transactions don't deadlock.
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
        PERFORM matches.write_presence_events(
            array_agg(reported.event ORDER BY reported.place), array_agg(reported.room ORDER BY reported.place),
            array_agg(reported.task ORDER BY reported.place),
            array_agg(v_now - make_interval(secs => reported.age) ORDER BY reported.place),
            array_agg(reported.peers ORDER BY reported.place))
        FROM (
            SELECT given.*, own.task_id,
                row_number() OVER (PARTITION BY given.event, given.room, own.task_id ORDER BY given.place) AS number
            FROM unnest(p_events, p_rooms, p_tasks, p_peers, p_ages) WITH ORDINALITY
                AS given (event, room, task, peers, age, place)
            LEFT JOIN core.attendance AS own ON own.task_id = given.task AND own.room_id = given.room
        ) AS reported
        LEFT JOIN unnest(v_rooms, v_tasks, v_gone) AS gone (room, task, count)
            ON gone.room = reported.room AND gone.task IS NOT DISTINCT FROM reported.task_id
                AND reported.event = 'room.left'
        -- The other daemons have already written that these members left.
        WHERE reported.number > coalesce(gone.count, 0);
    END IF;
END
$$;

-- Writes events of joins and leaves, in their order, after core.attendance counts them. Each event has the number of members in the
-- room after it. p_peers is that number for rooms without attendance.
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
        -- The task has a row by now if it is one of the room's.
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

-- Writes an event for each connection that came or went in open rooms. Rooms and tasks are those of core.attendance; p_changes has
-- the number of connections that came, below zero if they went.
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

-- Writes the members of a daemon that the other daemons considered dead, and whose members they removed: the number of connections by room
-- and by the task that they named, as in report_peers; all or a part. This is the state after the report p_number. After a later report it
-- changes nothing.
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
    -- A transaction that removes the daemon's members holds this row. One that deletes the daemon's row locks it after the
    -- daemon's row.
    INSERT INTO core.reporter AS known (id, number, wrote_at) VALUES (p_writer, p_number, v_now)
    ON CONFLICT (id) DO UPDATE SET wrote_at = excluded.wrote_at
    RETURNING known.number INTO v_number;
    -- Without the daemon's row, no other daemon would later remove what is written here. If the daemon is alive,
    -- its next heartbeat creates the row, and its reports count again.
    IF v_number > p_number OR NOT EXISTS (SELECT FROM core.daemon WHERE daemon.id = p_writer) THEN
        RETURN;
    END IF;
    UPDATE core.reporter SET number = p_number, must_revert = false WHERE reporter.id = p_writer;
    IF v_has_subscribers THEN
        PERFORM matches.lock_presence_events();
    END IF;
    WITH there AS MATERIALIZED (
        SELECT given.room, own.task_id, max(own.closes_at) AS closes_at, sum(given.connections)::integer AS connections
        FROM unnest(p_rooms, p_tasks, p_connections) AS given (room, task, connections)
        CROSS JOIN LATERAL (
            SELECT max(task.closes_at) AS closes_at, (array_agg(task.id) FILTER (WHERE task.id = given.task))[1] AS task_id,
                bool_or(task.id = given.task AND task.is_erased) AS is_erased
            FROM schedule.room_task AS task
            WHERE task.room_id = given.room
        ) AS own
        WHERE own.closes_at > v_now AND own.is_erased IS NOT TRUE
        GROUP BY given.room, own.task_id
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
        -- In the order of reports.
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

-- Writes leaves for members on daemons that no longer exist, at the daemon's last heartbeat; p_limit of its rooms' rows
-- at a time. Returns whether there was anything to do; there may be more.
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
    WITH taken AS (
        DELETE FROM core.presence WHERE presence.ctid = ANY (ARRAY(
            SELECT own.ctid FROM core.presence AS own WHERE own.reporter_id = v_gone.id LIMIT p_limit
        ))
        RETURNING presence.room_id, presence.task_id, presence.connections
    )
    SELECT array_agg(taken.room_id), array_agg(taken.task_id), array_agg(taken.connections)
    INTO v_rooms, v_tasks, v_connections FROM taken;
    IF v_rooms IS NULL THEN
        UPDATE core.reporter SET must_revert = false WHERE reporter.id = v_gone.id;
        RETURN true;
    END IF;
    IF v_has_subscribers THEN
        PERFORM matches.lock_presence_events();
    END IF;
    -- In the order in which reports lock them.
    PERFORM FROM core.attendance
    WHERE attendance.room_id = ANY (v_rooms) ORDER BY attendance.room_id, attendance.task_id FOR UPDATE;
    UPDATE core.attendance
    SET present = attendance.present - taken.connections, changed_at = greatest(attendance.changed_at, v_gone.lost_at)
    FROM unnest(v_rooms, v_tasks, v_connections) AS taken (room_id, task_id, connections)
    WHERE attendance.room_id = taken.room_id AND attendance.task_id IS NOT DISTINCT FROM taken.task_id;
    IF v_has_subscribers THEN
        PERFORM matches.write_presence_changes(
            v_rooms, v_tasks, ARRAY(SELECT -own.count FROM unnest(v_connections) WITH ORDINALITY AS own (count, place) ORDER BY place),
            v_gone.lost_at);
    END IF;
    RETURN true;
END
$$;
