-- Writing to the outbox: events for subscribers such as the webhook, and deliveries to people's addresses. Both are written
-- in the transaction that causes them, if the table of providers has a receiver. An event is deleted when all have received
-- it, or when its time is over.

-- How long an event is to be sent: a day, and a little more for the last attempt, which is at its end.
CREATE FUNCTION core.event_lifetime() RETURNS interval
LANGUAGE sql IMMUTABLE AS $$ SELECT interval '24 hours 10 minutes' $$;

-- Writes an event for subscribers; p_device is the device that it is about. The subject is locked, so events about it
-- are numbered in the order in which they happened.
CREATE FUNCTION core.write_event(
    p_type text, p_device text DEFAULT NULL, p_tasks uuid[] DEFAULT NULL, p_room uuid DEFAULT NULL,
    p_starts_at timestamptz DEFAULT NULL, p_title text DEFAULT NULL, p_start_time text DEFAULT NULL,
    p_time_zone text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_id bigint;
BEGIN
    IF NOT core.has_subscribers() THEN
        RETURN;
    END IF;
    v_now := core.clock();
    INSERT INTO core.event
        (type, happened_at, person, task_ids, room_id, starts_at, title, start_time, time_zone)
    VALUES (
        p_type, v_now, core.person_tag(p_device), p_tasks, p_room, p_starts_at, p_title, p_start_time, p_time_zone)
    RETURNING event.id INTO v_id;
    INSERT INTO core.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), v_id, v_now, v_now, v_now + core.event_lifetime()
    FROM core.provider WHERE provider.subscribes AND provider.disabled_at IS NULL;
END
$$;

-- Removes an erased person's data from waiting events, up to the event p_up_to and p_limit at a time. The person's tag
-- stays, so that subscribers know what to delete. Returns the number of rows; more may be left until that is 0.
CREATE FUNCTION core.empty_events(p_person text, p_up_to bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    UPDATE core.event SET title = NULL, start_time = NULL, time_zone = NULL
    WHERE event.id = ANY (ARRAY(
        SELECT entry.id FROM core.event AS entry
        WHERE entry.person = p_person AND entry.id <= p_up_to AND entry.title IS NOT NULL
        ORDER BY entry.person, entry.id LIMIT p_limit
        FOR UPDATE
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- Deletes events without remaining deliveries.
CREATE FUNCTION core.delete_events(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_ids IS NOT NULL THEN
        DELETE FROM core.event WHERE event.id = ANY (p_ids)
            AND NOT EXISTS (SELECT FROM core.delivery WHERE delivery.event_id = event.id);
    END IF;
END
$$;

-- The providers in use that send reminders to people's addresses. A provider that no daemon serves stays in use until
-- it is purged.
CREATE FUNCTION core.addressed_providers() RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT provider.name FROM core.provider
        WHERE NOT provider.subscribes AND provider.disabled_at IS NULL);
END
$$;

-- Whether any subscriber receives events.
CREATE FUNCTION core.has_subscribers() RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM core.provider WHERE provider.subscribes AND provider.disabled_at IS NULL);
END
$$;

-- Locks these addresses until the end of the transaction. Every transaction that locks several uses this.
CREATE FUNCTION core.lock_address_rows(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM core.address WHERE address.id = ANY (p_ids) ORDER BY address.id FOR UPDATE;
END
$$;
