-- Erasing a device. Each feature hides what it has of the device (core.begin_erasing), and deletes its rows in steps
-- (core.erase_rows).

-- The latest of a device's tasks that are being erased, by schedule.task.registered; 0 if none are.
CREATE FUNCTION core.erased_up_to(p_device text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT erasure.up_to FROM core.erasure WHERE erasure.device_id = p_device), 0);
END
$$;

-- Erases a device: everything that it has registered is invisible when this is committed. At most 500 rows of a kind are
-- deleted at once, the rest in steps of `erase_more`, so that nothing waits for it. Returns whether there may be more.
-- Connections of the device are ended by letsswitch_erased, on every daemon. A request that began before stores nothing,
-- because `erased` keeps the device for some minutes.
CREATE FUNCTION core.erase_device(p_device text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    c_batch CONSTANT integer := 500;
    v_person text := core.person_tag(p_device);
    v_events_up_to bigint;
    v_addresses bigint[];
    v_is_known boolean;
BEGIN
    PERFORM core.lock_erasing(p_device);
    v_events_up_to := coalesce((
        SELECT past.id FROM core.event AS past WHERE past.person = v_person AND past.title IS NOT NULL
        ORDER BY past.person DESC, past.id DESC LIMIT 1
    ), 0);
    INSERT INTO core.erased AS known (person, erased_at) VALUES (v_person, core.clock())
    ON CONFLICT (person) DO UPDATE SET erased_at = excluded.erased_at;
    PERFORM core.delete_old_erasures(c_batch);
    PERFORM pg_notify('letsswitch_erased', p_device);
    v_is_known := EXISTS (SELECT FROM core.address WHERE address.device_id = p_device)
        OR v_events_up_to > coalesce((
            SELECT erasure.events_up_to FROM core.erasure WHERE erasure.device_id = p_device), 0);
    INSERT INTO core.erasure AS known (device_id, person, events_up_to, next_try_at)
    VALUES (p_device, v_person, v_events_up_to, core.clock())
    ON CONFLICT (device_id) DO UPDATE SET events_up_to = greatest(known.events_up_to, excluded.events_up_to);
    v_is_known := core.begin_erasing(p_device) OR v_is_known;
    BEGIN
        PERFORM core.erase_some(p_device, c_batch);
    EXCEPTION WHEN OTHERS THEN
        IF core.is_transient_error(SQLSTATE) THEN
            RAISE;
        END IF;
        -- A row that can't be deleted stays invisible, and `erase_more` tries again.
        RAISE WARNING 'a device can''t be erased: % (%)', SQLERRM, SQLSTATE;
    END;
    -- Deliveries are locked before addresses.
    v_addresses := ARRAY(SELECT own.id FROM core.address AS own WHERE own.device_id = p_device);
    PERFORM core.lock_address_rows(v_addresses);
    DELETE FROM core.address WHERE address.id = ANY (v_addresses) AND address.device_id = p_device;
    IF v_is_known THEN
        PERFORM core.write_event('device.erased', p_device);
    END IF;
    RETURN EXISTS (SELECT FROM core.erasure WHERE erasure.device_id = p_device);
END
$$;

-- Deletes records of erasures that are older than any request that could have been in progress.
CREATE FUNCTION core.delete_old_erasures(p_limit integer) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM core.erased WHERE erased.person = ANY (ARRAY(
        SELECT past.person FROM core.erased AS past
        WHERE past.erased_at < core.clock() - interval '10 minutes'
        ORDER BY past.erased_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ))
$$;

-- Deletes p_limit rows of each kind of one device that is being erased and whose erasure isn't locked. Returns whether
-- there was one: more may be left until this is false. If a deletion fails, that device is retried after a minute, and the
-- others continue.
CREATE FUNCTION core.erase_more(p_limit integer) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_device text;
BEGIN
    SELECT erasure.device_id INTO v_device FROM core.erasure
    WHERE erasure.next_try_at <= v_now
    ORDER BY erasure.next_try_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    BEGIN
        PERFORM core.erase_some(v_device, p_limit);
        -- The device that has waited longest comes next.
        UPDATE core.erasure SET next_try_at = v_now WHERE erasure.device_id = v_device;
    EXCEPTION WHEN OTHERS THEN
        IF core.is_transient_error(SQLSTATE) THEN
            RAISE;
        END IF;
        RAISE WARNING 'a device can''t be erased: % (%)', SQLERRM, SQLSTATE;
        UPDATE core.erasure SET next_try_at = v_now + interval '1 minute' WHERE erasure.device_id = v_device;
    END;
    RETURN true;
END
$$;

-- One step. The device's `erasure` row, which is locked, is deleted with the last of its rows.
CREATE FUNCTION core.erase_some(p_device text, p_limit integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_erasure core.erasure;
    v_is_done boolean;
BEGIN
    SELECT * INTO v_erasure FROM core.erasure WHERE erasure.device_id = p_device;
    v_is_done := core.erase_rows(p_device, p_limit);
    v_is_done := core.empty_events(v_erasure.person, v_erasure.events_up_to, p_limit) < p_limit AND v_is_done;
    v_is_done := core.delete_blocks(p_device, p_limit) < p_limit AND v_is_done;
    IF v_is_done THEN
        DELETE FROM core.erasure WHERE erasure.device_id = p_device;
    END IF;
END
$$;
