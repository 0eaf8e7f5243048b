-- Events for subscribers such as the webhook. An event is written in the transaction that causes it, if the providers'
-- table has a subscriber, with a delivery to each. It is deleted when all have received it, or when its time is over.

-- How long an event is to be sent: a day, and a little more for the last attempt, which is at its end.
CREATE FUNCTION letsswitch.event_lifetime() RETURNS interval
LANGUAGE sql IMMUTABLE AS $$ SELECT interval '24 hours 10 minutes' $$;

-- Replaces a device's id where it must not be shown: always the same for a device while the database exists, and not
-- reversible.
CREATE FUNCTION letsswitch.person_tag(p_device text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT encode(substr(sha256(secret.value || convert_to(p_device, 'UTF8')), 1, 16), 'hex')
    FROM letsswitch.secret WHERE secret.name = 'person'
$$;

-- The devices of these tasks, in their order; NULL if unknown.
CREATE FUNCTION letsswitch.owners_of(p_tasks uuid[]) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT array_agg(letsswitch.person_tag(task.device_id) ORDER BY own.place)
    FROM unnest(p_tasks) WITH ORDINALITY AS own (id, place)
    LEFT JOIN letsswitch.visible_task AS task ON task.id = own.id
$$;

-- A match's tasks, in the order in which both name it.
CREATE FUNCTION letsswitch.match_tasks(p_task uuid, p_partner uuid) RETURNS uuid[]
LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[least(p_task, p_partner), greatest(p_task, p_partner)] $$;

-- Writes an event for subscribers; p_device is the device that it is about. The subject is locked, so events about it
-- are numbered in the order in which they happened.
CREATE FUNCTION letsswitch.write_event(
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
    SELECT provider.name, false, gen_random_uuid(), v_id, v_now, v_now, v_now + letsswitch.event_lifetime()
    FROM letsswitch.provider WHERE provider.subscribes AND provider.disabled_at IS NULL;
END
$$;

-- Writes an event about a task. A cancelled task has no further data.
CREATE FUNCTION letsswitch.write_task_event(p_type text, p_task letsswitch.task) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_type = 'task.cancelled' THEN
        PERFORM letsswitch.write_event(
            p_type, p_task.device_id, ARRAY[p_task.id], p_task.room_id, p_task.starts_at);
    ELSE
        PERFORM letsswitch.write_event(
            p_type, p_task.device_id, ARRAY[p_task.id], p_task.room_id, p_task.starts_at, p_task.title,
            p_task.start_time, p_task.time_zone);
    END IF;
END
$$;

-- Writes the event of a new match, and with p_is_open also that of its room, since no claim will write it.
CREATE FUNCTION letsswitch.write_match_event(p_task letsswitch.task, p_is_open boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM letsswitch.write_event(
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
            CASE WHEN entry.type = 'room.opened' THEN nextval('letsswitch.event_number') END, entry.type, entry.at,
            letsswitch.match_tasks(p_task.id, p_task.partner_id), p_task.room_id, p_task.starts_at, p_task.closes_at
        FROM (VALUES ('room.opened', letsswitch.clock()), ('room.closed', p_task.closes_at)) AS entry (type, at)
        ORDER BY entry.type DESC
        RETURNING event.id, event.type, event.happened_at
    )
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), opened.id, opened.happened_at, due.at, due.at + letsswitch.event_lifetime()
    FROM opened
    CROSS JOIN LATERAL (
        SELECT opened.happened_at + CASE opened.type WHEN 'room.closed' THEN interval '2 seconds' ELSE '0' END AS at
    ) AS due
    CROSS JOIN letsswitch.provider
    WHERE provider.subscribes AND provider.disabled_at IS NULL;
END
$$;

-- A room ends early: the event of its end is written now.
CREATE FUNCTION letsswitch.write_dissolved_event(p_room uuid) RETURNS void
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
    SET next_try_at = v_now + interval '2 seconds', deadline = v_now + interval '2 seconds' + letsswitch.event_lifetime()
    WHERE delivery.event_id = ANY (v_events);
END
$$;

-- Removes an erased person's data from waiting events, up to the event p_up_to and p_limit at a time. The person's tag
-- stays, so that subscribers know what to delete. Returns the number of rows; more may be left until that is 0.
CREATE FUNCTION letsswitch.empty_events(p_person text, p_up_to bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    UPDATE letsswitch.event SET title = NULL, start_time = NULL, time_zone = NULL
    WHERE event.id = ANY (ARRAY(
        SELECT entry.id FROM letsswitch.event AS entry
        WHERE entry.person = p_person AND entry.id <= p_up_to AND entry.title IS NOT NULL
        ORDER BY entry.person, entry.id LIMIT p_limit
        FOR UPDATE
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- Writes the events of a batch's reminders (or of one if p_only names it), and of the rooms that they open, each with
-- its end, which gets its number later. The claims' lock must be held.
CREATE FUNCTION letsswitch.write_claim_events(p_batch bigint, p_only uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_from uuid := letsswitch.first_reminder_id(p_batch);
    v_until uuid := letsswitch.first_reminder_id(p_batch + 1);
BEGIN
    WITH opened AS (
        INSERT INTO letsswitch.event (number, type, happened_at, task_ids, room_id, starts_at, closes_at)
        SELECT
            CASE WHEN entry.type = 'room.opened' THEN nextval('letsswitch.event_number') END, entry.type, entry.at,
            letsswitch.match_tasks(task.id, task.partner_id), task.room_id, task.starts_at, task.closes_at
        FROM letsswitch.reminder
        JOIN letsswitch.task ON task.id = reminder.task_id
        CROSS JOIN LATERAL (
            VALUES ('room.opened', reminder.claimed_at), ('room.closed', task.closes_at)
        ) AS entry (type, at)
        WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
            AND task.partner_id IS NOT NULL AND task.closes_at > reminder.claimed_at
            -- The first of a match's two opens it.
            AND NOT EXISTS (
                SELECT FROM letsswitch.reminder AS other
                WHERE other.starts_at = reminder.starts_at AND other.task_id = task.partner_id AND other.id < reminder.id)
        ORDER BY entry.type DESC, reminder.id
        RETURNING event.id, event.type, event.happened_at
    )
    INSERT INTO letsswitch.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), opened.id, opened.happened_at, due.at, due.at + letsswitch.event_lifetime()
    FROM opened
    -- Two seconds for the attendance reports.
    CROSS JOIN LATERAL (
        SELECT opened.happened_at + CASE opened.type WHEN 'room.closed' THEN interval '2 seconds' ELSE '0' END AS at
    ) AS due
    CROSS JOIN letsswitch.provider
    WHERE provider.subscribes AND provider.disabled_at IS NULL;

    WITH reminded AS (
        INSERT INTO letsswitch.event (type, happened_at, task_ids, reminder_id)
        SELECT 'reminder', reminder.claimed_at, ARRAY[task.id], reminder.id
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
    WHERE provider.subscribes AND provider.disabled_at IS NULL;
END
$$;

-- A room's end gets its number when it is first read, because no statement causes it.
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

-- Deletes events without remaining deliveries.
CREATE FUNCTION letsswitch.delete_events(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_ids IS NOT NULL THEN
        DELETE FROM letsswitch.event WHERE event.id = ANY (p_ids)
            AND NOT EXISTS (SELECT FROM letsswitch.delivery WHERE delivery.event_id = event.id);
    END IF;
END
$$;
