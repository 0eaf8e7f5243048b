-- The running daemons. A daemon that starts or stops notifies letsswitch_daemons with its id, so that the other daemons
-- read the table at once.

-- Records a heartbeat of a daemon: increments the count in its row, or creates the row with the count 1. Returns the
-- rows of all daemons, including this one. This daemon's count is 1 at its first heartbeat, and after other daemons
-- have deleted its row.
--
-- p_gone are the daemons that this daemon considers dead, and p_gone_beats are their last known counts. Their rows are
-- deleted, unless their counts have changed since then.
CREATE FUNCTION operations.beat(
    p_id uuid, p_host text, p_build text, p_bus_version integer, p_bus text, p_gone uuid[], p_gone_beats bigint[],
    p_is_bus_connected boolean, p_bus_delay bigint, p_bus_lost bigint, p_bus_dropped bigint
) RETURNS TABLE (
    id uuid, beats bigint, host text, build text, bus_version integer, bus text,
    -- Whether the daemon has sent a heartbeat within the last 15 seconds.
    is_fresh boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    UPDATE core.daemon
    SET beats = beats + 1, host = p_host, build = p_build, bus_version = p_bus_version, bus = p_bus, seen_at = core.clock(),
        is_bus_connected = p_is_bus_connected, bus_delay = p_bus_delay, bus_lost = p_bus_lost, bus_dropped = p_bus_dropped
    WHERE id = p_id;
    IF FOUND THEN
        -- The heartbeat's commit doesn't wait for the disk.
        PERFORM set_config('synchronous_commit', 'off', true);
    ELSE
        INSERT INTO core.daemon (
            id, beats, host, build, bus_version, bus, seen_at, is_bus_connected, bus_delay, bus_lost, bus_dropped)
        VALUES (
            p_id, 1, p_host, p_build, p_bus_version, p_bus, core.clock(), p_is_bus_connected, p_bus_delay, p_bus_lost,
            p_bus_dropped);
        PERFORM pg_notify('letsswitch_daemons', p_id::text);
    END IF;
    IF p_gone <> '{}' THEN
        -- Locked rows are skipped, so that two daemons that delete each other's rows don't wait for each other.
        WITH removed AS (
            DELETE FROM core.daemon WHERE id IN (
                SELECT daemon.id FROM core.daemon
                JOIN unnest(p_gone, p_gone_beats) AS gone (id, beats)
                    ON daemon.id = gone.id AND daemon.beats = gone.beats
                FOR UPDATE OF daemon SKIP LOCKED)
            RETURNING daemon.id, daemon.seen_at
        )
        INSERT INTO core.reporter AS known (id, number, wrote_at, lost_at, must_revert)
        SELECT removed.id, 0, core.clock(), removed.seen_at, true FROM removed
        ON CONFLICT (id) DO UPDATE SET lost_at = excluded.lost_at, must_revert = true;
    END IF;
    RETURN QUERY
        SELECT id, beats, host, build, bus_version, bus, seen_at > core.clock() - interval '15 s'
        FROM core.daemon;
END
$$;

-- Deletes the row of a daemon that stops. The row stays if core.presence still has members of this daemon in open
-- rooms: the daemon couldn't write that they left. The other daemons then treat it as dead, and remove its members.
CREATE FUNCTION operations.stop_daemon(p_id uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM core.daemon
    WHERE id = p_id
        AND NOT EXISTS (
            SELECT FROM core.presence
            JOIN core.attendance AS there
                ON there.room_id = presence.room_id AND there.task_id IS NOT DISTINCT FROM presence.task_id
            WHERE presence.reporter_id = p_id AND presence.connections > 0 AND there.closes_at > v_now);
    PERFORM pg_notify('letsswitch_daemons', p_id::text);
END
$$;
