-- Deletion of old deliveries, events and attendance.

-- Deletes these deliveries, and the events without other deliveries. Returns how many.
CREATE FUNCTION letsswitch.delete_deliveries(p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_events bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM letsswitch.delivery WHERE delivery.id = ANY (p_ids) RETURNING delivery.event_id
    )
    SELECT count(*), array_agg(gone.event_id) FILTER (WHERE gone.event_id IS NOT NULL) INTO v_count, v_events FROM gone;
    PERFORM letsswitch.delete_events(v_events);
    RETURN v_count;
END
$$;

-- Deletes a provider's deliveries except for the p_keep newest of all; p_limit at a time. Reminders aren't counted or
-- deleted: each is useful until its start, and is deleted then. Returns how many.
CREATE FUNCTION letsswitch.drop_deliveries(p_channel text, p_keep bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
BEGIN
    SELECT delivery.id INTO v_last FROM letsswitch.delivery
    WHERE NOT delivery.urgent ORDER BY delivery.id DESC OFFSET p_keep LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    RETURN letsswitch.delete_deliveries(ARRAY(
        SELECT oldest.id FROM letsswitch.delivery AS oldest
        WHERE oldest.id <= v_last AND oldest.channel = p_channel AND NOT oldest.urgent
        ORDER BY oldest.id LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ));
END
$$;

-- Deletes deliveries of a provider whose server has refused the daemon, p_limit at a time; nothing if a daemon has
-- started with the provider since. Returns how many.
CREATE FUNCTION letsswitch.clear_deliveries(p_channel text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM letsswitch.provider
    WHERE provider.name = p_channel AND provider.disabled_at IS NOT NULL
    FOR SHARE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    RETURN letsswitch.delete_deliveries(ARRAY(
        SELECT waiting.id FROM letsswitch.delivery AS waiting
        WHERE waiting.channel = p_channel LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ));
END
$$;

-- Deletes deliveries of providers that are no longer in use. Returns how many; more may be left until that is 0. No
-- index has the deadline, because each delivery and each lease would have to write it. Nearly everything that has been
-- due for the events' maximum age has passed its deadline, so the limit ends the search. Otherwise it would read a
-- day's undelivered events each time.
CREATE FUNCTION letsswitch.purge_deliveries(p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    PERFORM letsswitch.purge_providers();
    RETURN letsswitch.delete_deliveries(ARRAY(
        SELECT late.id FROM (VALUES ('apns'), ('webpush'), ('ntfy'), ('webhook')) AS channel (name)
        CROSS JOIN (VALUES (true, interval '1 hour'), (false, letsswitch.event_lifetime())) AS kind (urgent, age)
        CROSS JOIN LATERAL (
            SELECT old.id FROM letsswitch.delivery AS old
            WHERE old.channel = channel.name AND old.urgent = kind.urgent AND old.next_try_at < v_now - kind.age
                AND old.deadline <= v_now
            ORDER BY old.next_try_at LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ) AS late
    ));
END
$$;

-- Deletes events without deliveries, which remain if two deliveries ended at the same time; attendance of rooms that
-- closed more than p_retention seconds ago; and silent reporters. p_limit of each at a time.
CREATE FUNCTION letsswitch.purge_events(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_count bigint;
BEGIN
    PERFORM letsswitch.delete_events(ARRAY(SELECT event.id FROM letsswitch.event ORDER BY event.id LIMIT p_limit));
    DELETE FROM letsswitch.reporter WHERE reporter.id IN (
        SELECT silent.id FROM letsswitch.reporter AS silent
        WHERE silent.wrote_at < v_now - interval '1 day' AND NOT silent.must_close LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    );
    WITH forgotten AS (
        DELETE FROM letsswitch.attendance WHERE attendance.ctid = ANY (ARRAY(
            SELECT over.ctid FROM letsswitch.attendance AS over
            WHERE over.closes_at < v_now - make_interval(secs => p_retention) ORDER BY over.closes_at LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ))
        RETURNING attendance.room_id
    ), left_behind AS (
        DELETE FROM letsswitch.presence WHERE presence.room_id IN (SELECT forgotten.room_id FROM forgotten)
    )
    SELECT count(*) INTO v_count FROM forgotten;
    RETURN v_count;
END
$$;
