-- Writing to the outbox: events for subscribers such as the webhook, and deliveries to the addresses of devices. Both
-- are written in the transaction that causes them, if a provider in the table of providers can receive them. An event
-- is deleted when all subscribers have received it, or when core.event_lifetime is over.

-- Returns how long the outbox tries to send an event: a day, and ten minutes more so that an attempt at the day's end
-- still fits.
CREATE FUNCTION core.event_lifetime() RETURNS interval
LANGUAGE sql IMMUTABLE AS $$ SELECT interval '24 hours 10 minutes' $$;

-- Writes an event for subscribers. p_device is the device that the event is about. The caller has locked the subject of
-- the event, so the events of one subject are numbered in the order in which they happened.
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

-- Removes the data of an erased device from waiting events: at most p_limit events, up to the event p_up_to. p_person
-- is the device's tag. The tag stays in the events, so that subscribers know whose data to delete. Returns the number
-- of changed events. If it is p_limit, more may be left.
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

-- Deletes those of the given events that have no delivery left.
CREATE FUNCTION core.delete_events(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_ids IS NOT NULL THEN
        DELETE FROM core.event WHERE event.id = ANY (p_ids)
            AND NOT EXISTS (SELECT FROM core.delivery WHERE delivery.event_id = event.id);
    END IF;
END
$$;

-- Returns the providers in use that send to the addresses of devices. A provider that no daemon serves stays in use
-- until core.delete_old_providers deletes it.
CREATE FUNCTION core.addressed_providers() RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT provider.name FROM core.provider
        WHERE NOT provider.subscribes AND provider.disabled_at IS NULL);
END
$$;

-- Whether a provider in use receives events.
CREATE FUNCTION core.has_subscribers() RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM core.provider WHERE provider.subscribes AND provider.disabled_at IS NULL);
END
$$;

-- Locks these addresses in order of id until the end of the transaction. Every transaction that locks several addresses
-- uses this function.
CREATE FUNCTION core.lock_address_rows(p_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM core.address WHERE address.id = ANY (p_ids) ORDER BY address.id FOR UPDATE;
END
$$;
