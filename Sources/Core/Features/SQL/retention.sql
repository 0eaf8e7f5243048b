-- The deletion of old rows of the outbox, and of old records of erasures. It runs with any set of features: a daemon
-- without notifications also deletes the deliveries that an earlier daemon has written.

-- Deletes old rows of the outbox and of core.erased, at most p_limit of each kind. It ignores p_retention, because
-- these tables have their own times. Returns the number of deleted deliveries. If it isn't 0, more may be left.
CREATE FUNCTION core.delete_old(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    PERFORM core.delete_old_erasures(p_limit);
    PERFORM core.delete_old_providers();
    v_count := core.delete_old_deliveries(p_limit);
    -- Two transactions that delete the last two deliveries of an event at the same time both leave the event.
    PERFORM core.delete_events(ARRAY(SELECT event.id FROM core.event ORDER BY event.id LIMIT p_limit));
    RETURN v_count;
END
$$;

-- Deletes these deliveries, and events that have no delivery left. Returns the number of deleted deliveries.
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

-- Deletes deliveries whose deadline has passed, at most p_limit of each channel and kind. Such deliveries remain if no
-- daemon serves their provider any more. Returns the number of deleted deliveries. If it isn't 0, more may be left.
--
-- No index has the deadline, because then each new delivery and each lease would have to write to it. Instead the
-- search begins with deliveries that have been due for as long as their kind may live. Nearly all of those are past
-- their deadline, so the search ends after about p_limit rows. Without this bound it would read a day's undelivered
-- events each time.
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

-- Deletes providers that no daemon has served for a day. A shorter pause, such as a restart or a night, loses no
-- deliveries.
CREATE FUNCTION core.delete_old_providers() RETURNS void
LANGUAGE sql AS $$
    DELETE FROM core.provider WHERE provider.seen_at < core.clock() - interval '1 day'
$$;
