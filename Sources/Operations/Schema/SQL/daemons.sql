-- The daemons that are alive. A daemon that starts, and one that stops in order, notifies letsswitch_daemons with its
-- id, so that the others look at once.

-- A daemon lives: counts on in its row, or makes it. Then all rows, its own too, whose beats are 1 if it had to be made: at the first
-- beat, and when the others have given it up meanwhile.
--
-- p_gone are those that have stopped counting, and p_gone_beats where they did: their rows go, unless they have counted on.
-- Builds from before revision 37 say nothing of their bus, and know no columns of it.
CREATE FUNCTION letsswitch.beat(
    p_id uuid, p_host text, p_build text, p_language integer, p_bus text, p_gone uuid[], p_gone_beats bigint[],
    p_bus_stands boolean DEFAULT NULL, p_bus_delay bigint DEFAULT NULL, p_bus_lost bigint DEFAULT NULL,
    p_bus_dropped bigint DEFAULT NULL
) RETURNS TABLE (
    id uuid, beats bigint, host text, build text, language integer, bus text,
    -- Whether it has counted within the last fifteen seconds.
    is_fresh boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    UPDATE letsswitch.daemon
    SET beats = beats + 1, host = p_host, build = p_build, language = p_language, bus = p_bus, seen_at = letsswitch.clock(),
        bus_stands = p_bus_stands, bus_delay = p_bus_delay, bus_lost = p_bus_lost, bus_dropped = p_bus_dropped
    WHERE id = p_id;
    IF FOUND THEN
        -- A heartbeat doesn't wait for the disk.
        PERFORM set_config('synchronous_commit', 'off', true);
    ELSE
        INSERT INTO letsswitch.daemon (
            id, beats, host, build, language, bus, seen_at, bus_stands, bus_delay, bus_lost, bus_dropped)
        VALUES (
            p_id, 1, p_host, p_build, p_language, p_bus, letsswitch.clock(), p_bus_stands, p_bus_delay, p_bus_lost,
            p_bus_dropped);
        PERFORM pg_notify('letsswitch_daemons', p_id::text);
    END IF;
    IF p_gone <> '{}' THEN
        -- Two that give each other up don't wait for each other.
        WITH removed AS (
            DELETE FROM letsswitch.daemon WHERE id IN (
                SELECT daemon.id FROM letsswitch.daemon
                JOIN unnest(p_gone, p_gone_beats) AS gone (id, beats)
                    ON daemon.id = gone.id AND daemon.beats = gone.beats
                FOR UPDATE OF daemon SKIP LOCKED)
            RETURNING daemon.id, daemon.seen_at
        )
        INSERT INTO letsswitch.reporter AS known (id, number, wrote_at, gone_at, must_close)
        SELECT removed.id, 0, letsswitch.clock(), removed.seen_at, true FROM removed
        ON CONFLICT (id) DO UPDATE SET gone_at = excluded.gone_at, must_close = true;
    END IF;
    RETURN QUERY
        SELECT id, beats, host, build, language, bus, seen_at > letsswitch.clock() - interval '15 s'
        FROM letsswitch.daemon;
END
$$;

-- A daemon stops. If it couldn't write that its members have left open rooms, its row stays, and the others give it up
-- like a dead one and remove its members. A member of a room that has closed needs no leave, so that keeps no row.
CREATE FUNCTION letsswitch.farewell(p_id uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM letsswitch.daemon
    WHERE id = p_id
        AND NOT EXISTS (
            SELECT FROM letsswitch.presence JOIN letsswitch.task ON task.room_id = presence.room_id
            WHERE presence.reporter_id = p_id AND presence.connections > 0 AND task.closes_at > v_now);
    PERFORM pg_notify('letsswitch_daemons', p_id::text);
END
$$;
