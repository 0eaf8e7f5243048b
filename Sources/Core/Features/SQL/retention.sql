-- Deleting what is old in the outbox, and records of erasures. This runs whatever features are on: a daemon without
-- notifications also deletes the deliveries of an earlier one.

-- Deletes old rows of these tables, p_limit of each at a time, whatever p_retention is. Returns how many; more may be left
-- until that is 0.
CREATE FUNCTION core.delete_old(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    PERFORM core.delete_old_erasures(p_limit);
    PERFORM core.delete_old_providers();
    v_count := core.delete_old_deliveries(p_limit);
    -- Events remain without a delivery if their last two deliveries ended at the same time.
    PERFORM core.delete_events(ARRAY(SELECT event.id FROM core.event ORDER BY event.id LIMIT p_limit));
    RETURN v_count;
END
$$;

-- Deletes these deliveries, and the events without other deliveries. Returns how many.
CREATE FUNCTION core.delete_deliveries(p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_events bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM core.delivery WHERE delivery.id = ANY (p_ids) RETURNING delivery.event_id
    )
    SELECT count(*), array_agg(gone.event_id) FILTER (WHERE gone.event_id IS NOT NULL) INTO v_count, v_events FROM gone;
    PERFORM core.delete_events(v_events);
    RETURN v_count;
END
$$;

-- Deletes deliveries of providers that are no longer in use. Returns how many; more may be left until that is 0. No
-- index has the deadline, because each delivery and each lease would have to write it. Nearly everything that has been
-- due for the events' maximum age has passed its deadline, so the limit ends the search. Otherwise it would read a
-- day's undelivered events each time.
CREATE FUNCTION core.delete_old_deliveries(p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    RETURN core.delete_deliveries(ARRAY(
        SELECT late.id FROM (VALUES ('apns'), ('webpush'), ('ntfy'), ('webhook')) AS channel (name)
        CROSS JOIN (VALUES (true, interval '1 hour'), (false, core.event_lifetime())) AS kind (urgent, age)
        CROSS JOIN LATERAL (
            SELECT old.id FROM core.delivery AS old
            WHERE old.channel = channel.name AND old.urgent = kind.urgent AND old.next_try_at < v_now - kind.age
                AND old.deadline <= v_now
            ORDER BY old.next_try_at LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ) AS late
    ));
END
$$;

-- Deletes providers that no daemon has served for a day, so that a restart, or a night without a daemon, loses nothing.
CREATE FUNCTION core.delete_old_providers() RETURNS void
LANGUAGE sql AS $$
    DELETE FROM core.provider WHERE provider.seen_at < core.clock() - interval '1 day'
$$;
