-- The addresses at which devices receive notifications.

-- Locks an address until the end of the transaction: only one transaction at a time changes the device that it belongs
-- to. It is taken after that device's lock.
CREATE FUNCTION notifications.lock_address(p_channel text, p_address text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(19542, hashtext(p_channel || ' ' || p_address)) $$;

-- Registers an address of a device with a provider. If another device had this address, it belongs to p_device from now
-- on. If the device then has more than p_most addresses with the provider, its oldest ones are deleted. Returns added
-- if the number of addresses grows, kept if it doesn't, or full if it would grow and p_is_full is true.
--
-- Locks in this order: the device, the address, then rows in order of id. Two devices may register each other's
-- addresses at the same time.
CREATE FUNCTION notifications.register_address(
    p_device text, p_channel text, p_address text, p_details text, p_most integer, p_is_full boolean
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    -- Whether the device didn't have this address before. Otherwise its reminders are already written.
    v_is_new boolean;
    v_is_added boolean;
    v_is_late boolean := schedule.is_reminded_soon(p_device);
BEGIN
    IF v_is_late THEN
        PERFORM reminders.lock_claims_shared();
    END IF;
    -- Without this lock two simultaneous registrations wouldn't see each other, and both addresses would stay.
    PERFORM core.lock_device(p_device);
    -- No other transaction can insert the address now, so the statements below find its row if it exists.
    PERFORM notifications.lock_address(p_channel, p_address);
    v_is_added := NOT EXISTS (
        SELECT FROM core.address WHERE channel = p_channel AND address = p_address
    ) AND p_most > (
        SELECT count(*) FROM core.address WHERE device_id = p_device AND channel = p_channel
    );
    IF p_is_full AND v_is_added THEN
        RETURN 'full';
    END IF;
    PERFORM core.lock_address_rows(ARRAY(
        SELECT known.id FROM core.address AS known WHERE known.channel = p_channel AND known.address = p_address
        UNION ALL
        SELECT own.id FROM core.address AS own WHERE own.device_id = p_device AND own.channel = p_channel
    ));
    v_is_new := NOT EXISTS (
        SELECT FROM core.address
        WHERE channel = p_channel AND address = p_address AND device_id = p_device
    );
    INSERT INTO core.address (device_id, channel, address, details, registered_at, used_at)
    VALUES (p_device, p_channel, p_address, p_details, v_now, v_now)
    ON CONFLICT ON CONSTRAINT address_once DO UPDATE SET
        device_id = excluded.device_id, details = excluded.details, registered_at = excluded.registered_at,
        used_at = excluded.used_at;
    DELETE FROM core.address WHERE id IN (
        SELECT older.id FROM core.address AS older
        WHERE older.device_id = p_device AND older.channel = p_channel AND older.address <> p_address
        ORDER BY older.registered_at DESC, older.id DESC
        OFFSET p_most - 1
    );
    IF v_is_late AND v_is_new THEN
        PERFORM reminders.write_late_deliveries(p_device, p_channel, p_address);
    END IF;
    RETURN CASE WHEN v_is_added THEN 'added' ELSE 'kept' END;
END
$$;

-- Deletes an address of a device. If p_address is NULL, deletes all of the device's addresses with the provider.
CREATE FUNCTION notifications.remove_address(p_device text, p_channel text, p_address text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[] := ARRAY(
        SELECT known.id FROM core.address AS known
        WHERE known.device_id = p_device AND known.channel = p_channel
            AND (p_address IS NULL OR known.address = p_address)
    );
BEGIN
    PERFORM core.lock_address_rows(v_ids);
    DELETE FROM core.address WHERE id = ANY (v_ids) AND device_id = p_device;
END
$$;

-- Registers a device's push token. A device has only one. Returns the result of register_address.
CREATE FUNCTION notifications.register_token(
    p_device text, p_token text, p_sandbox boolean, p_is_full boolean
) RETURNS text
LANGUAGE sql AS $$
    SELECT notifications.register_address(
        p_device, 'apns', p_token, CASE WHEN p_sandbox THEN '{"sandbox":true}' ELSE '{"sandbox":false}' END, 1,
        p_is_full)
$$;
