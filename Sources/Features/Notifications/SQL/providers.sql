-- The providers of reminders and events. The table says which providers are in use, and not the settings of the daemon
-- that claims a task. Deliveries are written for the providers in the table, and leased by the daemons that serve them.

-- Records that a daemon has started with this provider. The provider is in use from now on, even if it was disabled.
-- Returns the number of starts.
CREATE FUNCTION notifications.start_provider(p_name text) RETURNS bigint
LANGUAGE sql AS $$
    INSERT INTO core.provider AS known (name, seen_at) VALUES (p_name, core.clock())
    ON CONFLICT (name) DO UPDATE SET starts = known.starts + 1, seen_at = excluded.seen_at, disabled_at = NULL
    RETURNING starts
$$;

-- Records that a daemon still serves the provider. lease_deliveries calls this function, and the row is written at most
-- every ten minutes.
CREATE FUNCTION notifications.touch_provider(p_name text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM core.provider WHERE provider.name = p_name AND provider.seen_at > p_now - interval '10 minutes'
    ) THEN
        INSERT INTO core.provider (name, seen_at) VALUES (p_name, p_now)
        ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at;
    END IF;
END
$$;

-- Disables a provider whose server has permanently refused this daemon. No more deliveries are written for it. p_start
-- is the number that start_provider returned. If another daemon has started with the provider since then, nothing
-- changes, because that daemon tries the provider itself. Returns whether the provider is disabled.
CREATE FUNCTION notifications.disable_provider(p_name text, p_start bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE core.provider SET disabled_at = coalesce(provider.disabled_at, core.clock())
    WHERE provider.name = p_name AND provider.starts = p_start;
    RETURN FOUND;
END
$$;
