-- The ways that reminders and events take. Which are in use stands here, not in the settings of the daemon that happens to claim a
-- task: deliveries are written for what the table names, and leased by the daemons that serve it.

-- A daemon has started with this provider: it is in use from now on, also after it was turned away. Returns the number of the start.
CREATE FUNCTION letsswitch.start_provider(p_name text) RETURNS bigint
LANGUAGE sql AS $$
    INSERT INTO letsswitch.provider AS known (name, seen_at) VALUES (p_name, letsswitch.clock())
    ON CONFLICT (name) DO UPDATE SET starts = known.starts + 1, seen_at = excluded.seen_at, turned_away_at = NULL
    RETURNING starts
$$;

-- A daemon serves it still. Leasing says so, at most each ten minutes.
CREATE FUNCTION letsswitch.touch_provider(p_name text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM letsswitch.provider WHERE provider.name = p_name AND provider.seen_at > p_now - interval '10 minutes'
    ) THEN
        INSERT INTO letsswitch.provider (name, seen_at) VALUES (p_name, p_now)
        ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at;
    END IF;
END
$$;

-- The provider's server has told the daemon of this start never to come again. Nothing is written for it any more, unless another
-- daemon has started with it since, which will see for itself. Returns whether it is out of use.
CREATE FUNCTION letsswitch.turn_away_provider(p_name text, p_start bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE letsswitch.provider SET turned_away_at = coalesce(provider.turned_away_at, letsswitch.clock())
    WHERE provider.name = p_name AND provider.starts = p_start;
    RETURN FOUND;
END
$$;

-- The providers in use that bring reminders to people's addresses. One that nobody serves stays in use until it is purged.
CREATE FUNCTION letsswitch.addressed_providers() RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN ARRAY(
        SELECT provider.name FROM letsswitch.provider
        WHERE NOT provider.subscribes AND provider.turned_away_at IS NULL);
END
$$;

-- Whether anybody is told of events.
CREATE FUNCTION letsswitch.has_subscribers() RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM letsswitch.provider WHERE provider.subscribes AND provider.turned_away_at IS NULL);
END
$$;

-- Forgets what no daemon has served for a day: a restart, or a night without any daemon, loses nothing.
CREATE FUNCTION letsswitch.purge_providers() RETURNS void
LANGUAGE sql AS $$
    DELETE FROM letsswitch.provider WHERE provider.seen_at < letsswitch.clock() - interval '1 day'
$$;
