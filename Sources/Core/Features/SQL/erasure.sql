-- The erasure of a device. Each feature makes its data of the device invisible (core.begin_erasing), and deletes its
-- rows in steps (core.erase_rows).

-- Returns the number (schedule.task.registered) of the latest of a device's tasks that are being erased; 0 if the
-- device isn't being erased. A task with a higher number was registered after the request.
CREATE FUNCTION core.erased_up_to(p_device text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT erasure.up_to FROM core.erasure WHERE erasure.device_id = p_device), 0);
END
$$;

-- Erases a device. All data that the device has registered is invisible once this transaction is committed. At most 500
-- rows of each kind are deleted here, and the rest in steps of `erase_more`, so that other transactions don't wait
-- long. Returns whether rows may be left.
--
-- The notification letsswitch_erased makes every daemon close the device's connections. A request that began before the
-- erasure stores nothing, because `erased` keeps the device's tag for some minutes.
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
        -- A row that can't be deleted stays invisible, and `erase_more` tries to delete it again.
        RAISE WARNING 'a device can''t be erased: % (%)', SQLERRM, SQLSTATE;
    END;
    -- Addresses come last in the order of locks, after deliveries.
    v_addresses := ARRAY(SELECT own.id FROM core.address AS own WHERE own.device_id = p_device);
    PERFORM core.lock_address_rows(v_addresses);
    DELETE FROM core.address WHERE address.id = ANY (v_addresses) AND address.device_id = p_device;
    IF v_is_known THEN
        PERFORM core.write_event('device.erased', p_device);
    END IF;
    RETURN EXISTS (SELECT FROM core.erasure WHERE erasure.device_id = p_device);
END
$$;

-- Deletes at most p_limit records of erasures that are older than any request that could still be in progress.
CREATE FUNCTION core.delete_old_erasures(p_limit integer) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM core.erased WHERE erased.person = ANY (ARRAY(
        SELECT past.person FROM core.erased AS past
        WHERE past.erased_at < core.clock() - interval '10 minutes'
        ORDER BY past.erased_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ))
$$;

-- Deletes at most p_limit rows of each kind of one device that is being erased. A device whose `erasure` row is locked
-- is skipped. Returns whether it found a device. If it did, more rows may be left. If the deletion fails, this device
-- is retried after a minute, and other devices continue.
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

-- Deletes at most p_limit rows of each kind of a device that is being erased. Deletes the device's `erasure` row if
-- nothing is left. The caller has locked that row.
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
