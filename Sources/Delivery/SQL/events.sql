-- What has happened, for those who want to know: an event is written in the transaction that makes it true, if the providers' table
-- names a subscriber, with a delivery to each; it goes when all have had it, or its time is over.

-- How long an event is to be sent: a day, and a little more for the last attempt, which is at its end.
CREATE FUNCTION letsswitch.event_patience() RETURNS interval
LANGUAGE sql IMMUTABLE AS $$ SELECT interval '24 hours 10 minutes' $$;

-- What stands for a device where it must not be named: the same as long as the database lives, and nobody finds the device by it.
CREATE FUNCTION letsswitch.person_tag(p_device text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(substr(sha256(secret.value || convert_to(p_device, 'UTF8')), 1, 16), 'hex')
    FROM letsswitch.secret WHERE secret.name = 'person'
$$;

-- Whose tasks these are, in their order; NULL where nobody knows any more.
CREATE FUNCTION letsswitch.people_of(p_tasks uuid[]) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT array_agg(letsswitch.person_tag(task.device_id) ORDER BY own.place)
    FROM unnest(p_tasks) WITH ORDINALITY AS own (id, place)
    LEFT JOIN letsswitch.visible_task AS task ON task.id = own.id
$$;

-- A match's tasks, in the order in which both name it.
CREATE FUNCTION letsswitch.match_tasks(p_task uuid, p_partner uuid) RETURNS uuid[]
LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[least(p_task, p_partner), greatest(p_task, p_partner)] $$;

-- Tells subscribers of what has happened now; p_device is whom it is about. What it is about is locked, so that what is told of it is
-- numbered in the order in which it happened.
CREATE FUNCTION letsswitch.tell(
    p_type text, p_device text DEFAULT NULL, p_tasks uuid[] DEFAULT NULL, p_room uuid DEFAULT NULL,
    p_starts_at timestamptz DEFAULT NULL, p_title text DEFAULT NULL, p_start_time text DEFAULT NULL,
    p_time_zone text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_id bigint;
BEGIN
    IF NOT letsswitch.has_subscribers() THEN
        RETURN;
    END IF;
    v_now := letsswitch.clock();
    INSERT INTO letsswitch.event
        (type, happened_at, person, task_ids, room_id, starts_at, title, start_time, time_zone)
    VALUES (
        p_type, v_now, letsswitch.person_tag(p_device), p_tasks, p_room, p_starts_at, p_title, p_start_time, p_time_zone)
    RETURNING event.id INTO v_id;
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), v_id, v_now, v_now, v_now + letsswitch.event_patience()
    FROM letsswitch.provider WHERE provider.subscribes AND provider.turned_away_at IS NULL;
END
$$;

-- Tells of a task; of what is cancelled there is nothing to show.
CREATE FUNCTION letsswitch.tell_task(p_type text, p_task letsswitch.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_type = 'task.cancelled' THEN
        PERFORM letsswitch.tell(
            p_type, p_task.device_id, ARRAY[p_task.id], p_task.room_id, p_task.starts_at);
    ELSE
        PERFORM letsswitch.tell(
            p_type, p_task.device_id, ARRAY[p_task.id], p_task.room_id, p_task.starts_at, p_task.title,
            p_task.start_time, p_task.time_zone);
    END IF;
END
$$;

-- Tells of a match that was made, with p_is_open of its room too: no claim of either will.
CREATE FUNCTION letsswitch.tell_match(p_task letsswitch.task, p_is_open boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM letsswitch.tell(
        'match.created', NULL, ARRAY[p_task.partner_id, p_task.id], p_task.room_id, p_task.starts_at);
    IF NOT p_is_open OR NOT letsswitch.has_subscribers() THEN
        RETURN;
    END IF;
    -- A room that was kept has opened before, and closes once.
    UPDATE letsswitch.event SET task_ids = letsswitch.match_tasks(p_task.id, p_task.partner_id)
    WHERE event.room_id = p_task.room_id AND event.type = 'room.closed' AND event.number IS NULL;
    IF FOUND THEN
        RETURN;
    END IF;
    WITH opened AS (
        INSERT INTO letsswitch.event (number, type, happened_at, task_ids, room_id, starts_at, closes_at)
        SELECT
            CASE WHEN told.type = 'room.opened' THEN nextval('letsswitch.event_number') END, told.type, told.at,
            letsswitch.match_tasks(p_task.id, p_task.partner_id), p_task.room_id, p_task.starts_at, p_task.closes_at
        FROM (VALUES ('room.opened', letsswitch.clock()), ('room.closed', p_task.closes_at)) AS told (type, at)
        ORDER BY told.type DESC
        RETURNING event.id, event.type, event.happened_at
    )
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), opened.id, opened.happened_at, due.at, due.at + letsswitch.event_patience()
    FROM opened
    CROSS JOIN LATERAL (
        SELECT opened.happened_at + CASE opened.type WHEN 'room.closed' THEN interval '2 seconds' ELSE '0' END AS at
    ) AS due
    CROSS JOIN letsswitch.provider
    WHERE provider.subscribes AND provider.turned_away_at IS NULL;
END
$$;

-- A room ends before its time: whoever is to be told that it has closed is told now.
CREATE FUNCTION letsswitch.tell_dissolved(p_room uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_events bigint[];
BEGIN
    IF NOT letsswitch.has_subscribers() THEN
        RETURN;
    END IF;
    v_now := letsswitch.clock();
    WITH closed AS (
        UPDATE letsswitch.event SET happened_at = v_now
        WHERE event.room_id = p_room AND event.type = 'room.closed' AND event.number IS NULL AND event.happened_at > v_now
        RETURNING event.id
    )
    SELECT array_agg(closed.id) INTO v_events FROM closed;
    UPDATE letsswitch.delivery
    SET next_try_at = v_now + interval '2 seconds', deadline = v_now + interval '2 seconds' + letsswitch.event_patience()
    WHERE delivery.event_id = ANY (v_events);
END
$$;

-- Takes from what waits to be told what it says of a person who is being erased, up to the event p_up_to and p_limit at a time: whose
-- they are stays, so that whoever has been told knows what to forget. Returns how many it took: more may be left until that is 0.
CREATE FUNCTION letsswitch.silence_events(p_person text, p_up_to bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    UPDATE letsswitch.event SET title = NULL, start_time = NULL, time_zone = NULL
    WHERE event.id = ANY (ARRAY(
        SELECT told.id FROM letsswitch.event AS told
        WHERE told.person = p_person AND told.id <= p_up_to AND told.title IS NOT NULL
        ORDER BY told.person, told.id LIMIT p_limit
        FOR UPDATE
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- Tells of a batch's reminders (of one when p_only names it), and of the rooms that they open: each with its end, which is numbered
-- when it comes. With the claims' lock held.
CREATE FUNCTION letsswitch.tell_claimed(p_batch bigint, p_only uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_from uuid := letsswitch.first_id(p_batch);
    v_until uuid := letsswitch.first_id(p_batch + 1);
BEGIN
    WITH opened AS (
        INSERT INTO letsswitch.event (number, type, happened_at, task_ids, room_id, starts_at, closes_at)
        SELECT
            CASE WHEN told.type = 'room.opened' THEN nextval('letsswitch.event_number') END, told.type, told.at,
            letsswitch.match_tasks(task.id, task.partner_id), task.room_id, task.starts_at, task.closes_at
        FROM letsswitch.reminder
        JOIN letsswitch.task ON task.id = reminder.task_id
        CROSS JOIN LATERAL (
            VALUES ('room.opened', reminder.fired_at), ('room.closed', task.closes_at)
        ) AS told (type, at)
        WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
            AND task.partner_id IS NOT NULL AND task.closes_at > reminder.fired_at
            -- The first of a match's two opens it.
            AND NOT EXISTS (
                SELECT FROM letsswitch.reminder AS other
                WHERE other.starts_at = reminder.starts_at AND other.task_id = task.partner_id AND other.id < reminder.id)
        ORDER BY told.type DESC, reminder.id
        RETURNING event.id, event.type, event.happened_at
    )
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), opened.id, opened.happened_at, due.at, due.at + letsswitch.event_patience()
    FROM opened
    -- Two seconds for those who report who came and went.
    CROSS JOIN LATERAL (
        SELECT opened.happened_at + CASE opened.type WHEN 'room.closed' THEN interval '2 seconds' ELSE '0' END AS at
    ) AS due
    CROSS JOIN letsswitch.provider
    WHERE provider.subscribes AND provider.turned_away_at IS NULL;

    WITH reminded AS (
        INSERT INTO letsswitch.event (type, happened_at, task_ids, reminder_id)
        SELECT 'reminder', reminder.fired_at, ARRAY[task.id], reminder.id
        FROM letsswitch.reminder
        JOIN letsswitch.visible_task AS task ON task.id = reminder.task_id
        WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
            AND reminder.state = 'pending' AND task.device_id IS NOT NULL
        ORDER BY reminder.id
        RETURNING event.id, event.happened_at, event.task_ids[1] AS task_id, event.reminder_id
    )
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, task_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, true, reminded.reminder_id, reminded.task_id, reminded.id, reminded.happened_at,
        reminded.happened_at, task.starts_at
    FROM reminded
    JOIN letsswitch.task ON task.id = reminded.task_id
    CROSS JOIN letsswitch.provider
    WHERE provider.subscribes AND provider.turned_away_at IS NULL;
END
$$;

-- What happens without anybody's doing, a room's end, gets its number when it is first looked at.
CREATE FUNCTION letsswitch.number_events(p_ids bigint[]) RETURNS void
LANGUAGE sql AS $$
    UPDATE letsswitch.event SET number = numbered.number
    FROM (
        SELECT late.id, nextval('letsswitch.event_number') AS number
        FROM (
            SELECT event.id FROM letsswitch.event WHERE event.id = ANY (p_ids) AND event.number IS NULL
            ORDER BY event.happened_at, event.id
            FOR UPDATE
        ) AS late
    ) AS numbered
    WHERE event.id = numbered.id
$$;

-- Forgets events that nobody is to be told of any more.
CREATE FUNCTION letsswitch.forget_events(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_ids IS NOT NULL THEN
        DELETE FROM letsswitch.event WHERE event.id = ANY (p_ids)
            AND NOT EXISTS (SELECT FROM letsswitch.delivery WHERE delivery.event_id = event.id);
    END IF;
END
$$;

-- Attendance -------------------------------------------------------------------------------------------------------

-- Who came to matches' rooms and who went, in their order: elements of these arrays that belong together. p_peers is how many
-- there were in the room afterwards, on that daemon; p_tasks the task that the peer gave, which counts if it is one of the room's;
-- p_ages how many seconds ago. Rooms that aren't a match's, nor anybody's who was let down, leave no trace, but who was there
-- before the match ended leaves as who came. A report that p_writer, the daemon, has written already, by its
-- number, is not written again.
--
-- A daemon that was given up, and lives, has had its people taken back: when they leave, they aren't counted once more. One of an earlier
-- build writes by an id that no daemon has, and tells of people leaving who came before letsswitch.presence was there.
CREATE FUNCTION letsswitch.report_peers(
    p_writer uuid, p_number bigint,
    p_events text[], p_rooms uuid[], p_tasks uuid[], p_peers integer[], p_ages double precision[]
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_is_daemon boolean := EXISTS (SELECT FROM letsswitch.daemon WHERE daemon.id = p_writer)
        OR EXISTS (SELECT FROM letsswitch.reporter WHERE reporter.id = p_writer AND reporter.gone_at IS NOT NULL);
BEGIN
    INSERT INTO letsswitch.reporter AS known (id, number, wrote_at) VALUES (p_writer, p_number, v_now)
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, wrote_at = excluded.wrote_at, must_close = false
    WHERE known.number < excluded.number;
    IF NOT FOUND THEN
        RETURN;
    END IF;

    WITH report AS MATERIALIZED (
        SELECT
            report.room, own.task_id, max(own.closes_at) AS closes_at, min(report.at) AS came_at,
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
                (array_agg(one.id) FILTER (WHERE one.id = report.task))[1] AS task_id
            FROM (
                SELECT task.id, task.closes_at FROM letsswitch.task
                WHERE task.room_id = report.room AND (task.partner_id IS NOT NULL OR task.waits_until IS NOT NULL)
                UNION ALL
                SELECT known.task_id, known.closes_at FROM letsswitch.presence
                JOIN letsswitch.attendance AS known
                    ON known.room_id = presence.room_id AND known.task_id IS NOT DISTINCT FROM presence.task_id
                WHERE report.change < 0 AND presence.reporter_id = p_writer AND presence.room_id = report.room
                    AND (presence.task_id = report.task OR presence.task_id IS NULL)
            ) AS one
        ) AS own
        WHERE own.closes_at IS NOT NULL
        GROUP BY report.room, own.task_id
    ), counted AS MATERIALIZED (
        -- The reporter's row is ours: nobody else changes these.
        SELECT report.*, own.before, greatest(0, own.before + report.change) AS after
        FROM report
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(presence.connections), 0) AS before FROM letsswitch.presence
            WHERE presence.reporter_id = p_writer AND presence.room_id = report.room
                AND presence.task_id IS NOT DISTINCT FROM report.task_id
        ) AS own
    ), told AS (
        INSERT INTO letsswitch.presence (reporter_id, room_id, task_id, connections)
        SELECT p_writer, counted.room, counted.task_id, counted.after FROM counted
        ON CONFLICT (reporter_id, room_id, task_id) DO UPDATE SET connections = excluded.connections
    )
    INSERT INTO letsswitch.attendance AS known
        (room_id, task_id, closes_at, came_at, changed_at, present, visits, most_peers)
    SELECT
        counted.room, counted.task_id, counted.closes_at, counted.came_at, counted.changed_at,
        CASE WHEN v_is_daemon THEN counted.after - counted.before ELSE counted.change END, counted.visits,
        counted.most_peers
    FROM counted
    -- In one order, so that nobody waits in a circle.
    ORDER BY counted.room, counted.task_id
    ON CONFLICT (room_id, task_id) DO UPDATE SET
        changed_at = excluded.changed_at, present = known.present + excluded.present,
        visits = known.visits + excluded.visits, most_peers = greatest(known.most_peers, excluded.most_peers);
    DELETE FROM letsswitch.presence
    WHERE presence.reporter_id = p_writer AND presence.room_id = ANY (p_rooms) AND presence.connections = 0;

    IF NOT letsswitch.has_subscribers() THEN
        RETURN;
    END IF;
    WITH told AS (
        INSERT INTO letsswitch.event (type, happened_at, room_id, task_ids, peers)
        SELECT
            reported.event, v_now - make_interval(secs => reported.age), reported.room,
            CASE WHEN own.task_id IS NOT NULL THEN ARRAY[own.task_id] END, reported.peers
        FROM unnest(p_events, p_rooms, p_tasks, p_peers, p_ages) WITH ORDINALITY
            AS reported (event, room, task, peers, age, place)
        -- Has a row by now, if it is one of the room's.
        LEFT JOIN letsswitch.attendance AS own ON own.task_id = reported.task AND own.room_id = reported.room
        ORDER BY reported.place
        RETURNING event.id
    )
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), told.id, v_now, v_now, v_now + letsswitch.event_patience()
    FROM told
    CROSS JOIN letsswitch.provider
    WHERE provider.subscribes AND provider.turned_away_at IS NULL;
END
$$;

-- Has those leave who were in rooms on a daemon that is no more, at its last heartbeat; p_limit of its rooms' rows at a time.
-- Returns whether there was anything to do: there may be more.
CREATE FUNCTION letsswitch.close_presence(p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_gone letsswitch.reporter;
    v_rooms uuid[];
    v_tasks uuid[];
    v_connections integer[];
BEGIN
    SELECT * INTO v_gone FROM letsswitch.reporter WHERE reporter.must_close
    ORDER BY reporter.gone_at LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    WITH taken AS (
        DELETE FROM letsswitch.presence WHERE presence.ctid = ANY (ARRAY(
            SELECT own.ctid FROM letsswitch.presence AS own WHERE own.reporter_id = v_gone.id LIMIT p_limit
        ))
        RETURNING presence.room_id, presence.task_id, presence.connections
    )
    SELECT array_agg(taken.room_id), array_agg(taken.task_id), array_agg(taken.connections)
    INTO v_rooms, v_tasks, v_connections FROM taken;
    IF v_rooms IS NULL THEN
        UPDATE letsswitch.reporter SET must_close = false WHERE reporter.id = v_gone.id;
        RETURN true;
    END IF;
    -- As those who report lock them.
    PERFORM FROM letsswitch.attendance
    WHERE attendance.room_id = ANY (v_rooms) ORDER BY attendance.room_id, attendance.task_id FOR UPDATE;
    UPDATE letsswitch.attendance
    SET present = attendance.present - taken.connections, changed_at = greatest(attendance.changed_at, v_gone.gone_at)
    FROM unnest(v_rooms, v_tasks, v_connections) AS taken (room_id, task_id, connections)
    WHERE attendance.room_id = taken.room_id AND attendance.task_id IS NOT DISTINCT FROM taken.task_id;
    RETURN true;
END
$$;

-- Forgets ----------------------------------------------------------------------------------------------------------

-- What nobody is told of any more, though the last of two who were told at once couldn't know it; who was in rooms that closed
-- longer ago than p_retention seconds; and reporters that are silent. p_limit of each at a time.
CREATE FUNCTION letsswitch.purge_events(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_count bigint;
BEGIN
    PERFORM letsswitch.forget_events(ARRAY(SELECT event.id FROM letsswitch.event ORDER BY event.id LIMIT p_limit));
    DELETE FROM letsswitch.reporter WHERE reporter.id IN (
        SELECT silent.id FROM letsswitch.reporter AS silent
        WHERE silent.wrote_at < v_now - interval '1 day' AND NOT silent.must_close LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    );
    WITH forgotten AS (
        DELETE FROM letsswitch.attendance WHERE attendance.ctid = ANY (ARRAY(
            SELECT over.ctid FROM letsswitch.attendance AS over
            WHERE over.closes_at < v_now - make_interval(secs => p_retention) ORDER BY over.closes_at LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ))
        RETURNING attendance.room_id
    ), left_behind AS (
        DELETE FROM letsswitch.presence WHERE presence.room_id IN (SELECT forgotten.room_id FROM forgotten)
    )
    SELECT count(*) INTO v_count FROM forgotten;
    RETURN v_count;
END
$$;
