-- The deletion of deliveries whose provider can't send them in time.

-- Deletes at most p_limit of a provider's deliveries that aren't among the p_keep newest deliveries of all providers.
-- Reminders don't count and aren't deleted here: a reminder is useful until its start, and expires then. Returns the
-- number of deleted deliveries.
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

-- Deletes at most p_limit deliveries of a disabled provider. If a daemon has started with the provider since it was
-- disabled, nothing is deleted. Returns the number of deleted deliveries.
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
