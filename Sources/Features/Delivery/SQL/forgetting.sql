-- What is forgotten of deliveries, events and attendance.

-- Deletes these, and the events that nobody else is to be told of. Returns how many.
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
    PERFORM letsswitch.forget_events(v_events);
    RETURN v_count;
END
$$;

-- Deletes a provider's deliveries but the p_keep newest of all; p_limit at a time. Reminders neither count nor go: however many are due
-- at once, each is worth something until its start, and goes then. Returns how many.
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

-- Deletes what waits for a provider that was turned away, p_limit at a time; nothing once a daemon has started with it again.
-- Returns how many.
CREATE FUNCTION letsswitch.clear_deliveries(p_channel text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM letsswitch.provider
    WHERE provider.name = p_channel AND provider.turned_away_at IS NOT NULL
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

-- What nobody sends: of providers that are no longer in use. Returns how many it took: more may be left until that is 0. No index has the
-- deadline: each delivery and each lease would pay for it. Of what has been due for as long as events are sent nearly all is late, so that
-- the limit ends the search, which would otherwise read a day's events that nobody serves each time.
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

-- What nobody is told of any more, though the last of two who were told at once couldn't know it; who was in rooms that closed
-- longer ago than p_retention seconds; and reporters that are silent. p_limit of each at a time.
CREATE FUNCTION letsswitch.purge_events(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_count bigint;
BEGIN
    PERFORM letsswitch.forget_events(ARRAY(SELECT event.id FROM letsswitch.event ORDER BY event.id LIMIT p_limit));
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
