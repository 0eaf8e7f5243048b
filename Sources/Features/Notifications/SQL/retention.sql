-- Deletion of old deliveries, events and attendance.

-- Deletes a provider's deliveries except for the p_keep newest of all; p_limit at a time. Reminders aren't counted or
-- deleted: each is useful until its start, and is deleted then. Returns how many.
CREATE FUNCTION notifications.drop_deliveries(p_channel text, p_keep bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
BEGIN
    SELECT delivery.id INTO v_last FROM core.delivery
    WHERE NOT delivery.urgent ORDER BY delivery.id DESC OFFSET p_keep LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    RETURN core.delete_deliveries(ARRAY(
        SELECT oldest.id FROM core.delivery AS oldest
        WHERE oldest.id <= v_last AND oldest.channel = p_channel AND NOT oldest.urgent
        ORDER BY oldest.id LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ));
END
$$;

-- Deletes deliveries of a provider whose server has refused the daemon, p_limit at a time; nothing if a daemon has
-- started with the provider since. Returns how many.
CREATE FUNCTION notifications.clear_deliveries(p_channel text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM core.provider
    WHERE provider.name = p_channel AND provider.disabled_at IS NOT NULL
    FOR SHARE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    RETURN core.delete_deliveries(ARRAY(
        SELECT waiting.id FROM core.delivery AS waiting
        WHERE waiting.channel = p_channel LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ));
END
$$;
