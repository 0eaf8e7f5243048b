-- The number of stored rows, and the deletion of unused ones.

-- A device was in use at an instant: its series were read, or a task that it registered is deleted. Written at most
-- once a day and without waiting for locks, since a transaction that holds one of the rows also uses it.
CREATE FUNCTION letsswitch.touch_device(p_device text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_before timestamptz := p_at - interval '1 day';
BEGIN
    UPDATE letsswitch.address SET used_at = p_at WHERE address.id = ANY (ARRAY(
        SELECT own.id FROM letsswitch.address AS own
        WHERE own.device_id = p_device AND own.used_at < v_before
        FOR UPDATE SKIP LOCKED
    ));
    UPDATE letsswitch.calendar SET used_at = p_at WHERE calendar.device_id = ANY (ARRAY(
        SELECT own.device_id FROM letsswitch.calendar AS own
        WHERE own.device_id = p_device AND own.used_at < v_before
        FOR UPDATE SKIP LOCKED
    ));
    UPDATE letsswitch.series SET used_at = p_at WHERE series.id = ANY (ARRAY(
        SELECT own.id FROM letsswitch.series AS own
        WHERE own.device_id = p_device AND own.used_at < v_before
        FOR UPDATE SKIP LOCKED
    ));
END
$$;

-- Whether a person uses a device's schedule: registered a task by hand, or joined one, and that is still stored;
-- purging then records it. A series creates tasks also for people who have long gone.
CREATE FUNCTION letsswitch.is_in_use(p_device text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_erased bigint := letsswitch.erased_up_to(p_device);
BEGIN
    RETURN EXISTS (
        SELECT FROM letsswitch.task
        WHERE task.device_id = p_device AND task.registered > v_erased AND (
            task.series_id IS NULL OR task.began_at IS NOT NULL
            OR EXISTS (
                SELECT FROM letsswitch.attendance
                WHERE attendance.room_id = task.room_id AND attendance.task_id = task.id AND attendance.visits > 0)));
END
$$;

-- Whether a device has as many open tasks as it may; false if p_most is NULL. The caller holds lock_device, so the
-- answer holds until the end of its transaction.
CREATE FUNCTION letsswitch.has_open_tasks(p_device text, p_most integer, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_most IS NULL THEN
        RETURN false;
    END IF;
    RETURN p_most <= (
        SELECT count(*) FROM (
            SELECT FROM letsswitch.task
            WHERE task.device_id = p_device AND task.starts_at > p_now
                -- Tasks that are being erased don't count, though their rows still exist.
                AND task.registered > coalesce(
                    (SELECT erasure.up_to FROM letsswitch.erasure WHERE erasure.device_id = p_device), 0)
            LIMIT p_most
        ) AS open
    );
END
$$;

-- Whether anything of a device's is here by which it comes to the schedule.
CREATE FUNCTION letsswitch.is_in_schedule(p_device text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM letsswitch.task WHERE task.device_id = p_device)
        OR EXISTS (SELECT FROM letsswitch.series WHERE series.device_id = p_device)
        OR EXISTS (SELECT FROM letsswitch.address WHERE address.device_id = p_device)
        OR EXISTS (SELECT FROM letsswitch.calendar WHERE calendar.device_id = p_device)
$$;

-- Whether a device participates in conversations: it was connected since then, or is, or a message of its is kept.
CREATE FUNCTION letsswitch.is_in_conversations(p_device text, p_since timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM letsswitch.chat_user AS own
        WHERE own.device_id = p_device AND own.name IS NOT NULL AND (
            own.used_at >= p_since
            OR EXISTS (SELECT FROM letsswitch.connected_user WHERE connected_user.user_id = own.id)
            OR EXISTS (SELECT FROM letsswitch.message WHERE message.author_id = own.id)
        )
    )
$$;

-- Deletes addresses, calendars, preferences, blocks and names that weren't used for p_retention seconds, p_limit of
-- each at a time, unless their device is in use. A preference counts as used while its owner has anything else here; so
-- does a block, also while its owner participates in conversations. Returns how many it looked at; more may be left
-- until that is 0.
CREATE FUNCTION letsswitch.delete_unused(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    -- A transaction that registers them again is before or after this one.
    v_addresses bigint[] := ARRAY(
        SELECT address.id FROM letsswitch.address
        WHERE address.used_at < v_before ORDER BY address.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    v_calendars text[] := ARRAY(
        SELECT calendar.device_id FROM letsswitch.calendar
        WHERE calendar.used_at < v_before ORDER BY calendar.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    v_preferences uuid[] := ARRAY(
        SELECT preference.id FROM letsswitch.preference
        WHERE preference.used_at < v_before ORDER BY preference.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
    v_blocks uuid[] := ARRAY(
        SELECT block.id FROM letsswitch.block
        WHERE block.used_at < v_before ORDER BY block.used_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    );
BEGIN
    UPDATE letsswitch.address SET used_at = v_now
    WHERE address.id = ANY (v_addresses) AND letsswitch.is_in_use(address.device_id);
    DELETE FROM letsswitch.address WHERE address.id = ANY (v_addresses) AND address.used_at < v_before;
    UPDATE letsswitch.calendar SET used_at = v_now
    WHERE calendar.device_id = ANY (v_calendars) AND letsswitch.is_in_use(calendar.device_id);
    DELETE FROM letsswitch.calendar WHERE calendar.device_id = ANY (v_calendars) AND calendar.used_at < v_before;
    -- After these, because a device that was just deleted keeps none.
    UPDATE letsswitch.preference SET used_at = v_now
    WHERE preference.id = ANY (v_preferences) AND letsswitch.is_in_schedule(preference.device_id);
    DELETE FROM letsswitch.preference WHERE preference.id = ANY (v_preferences) AND preference.used_at < v_before;
    UPDATE letsswitch.block SET used_at = v_now
    WHERE block.id = ANY (v_blocks)
        AND (letsswitch.is_in_schedule(block.device_id) OR letsswitch.is_in_conversations(block.device_id, v_before));
    DELETE FROM letsswitch.block WHERE block.id = ANY (v_blocks) AND block.used_at < v_before;
    -- Last, because a blocked user keeps the name while the block exists.
    RETURN cardinality(v_addresses) + cardinality(v_calendars) + cardinality(v_preferences) + cardinality(v_blocks)
        + letsswitch.delete_unused_names(v_before, p_limit);
END
$$;

-- About how many rows a table has: counted in its first pages; if it has more, reckoned as the planner does, from how many rows a
-- page had at the last vacuum, or, before there was one, has at the beginning.
CREATE FUNCTION letsswitch.stored(p_table regclass) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c_pages CONSTANT bigint := 200;
    v_pages bigint := pg_relation_size(p_table) / current_setting('block_size')::integer;
    v_count bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s WHERE ctid < ''(%s,0)''', p_table, least(v_pages, c_pages)) INTO v_count;
    IF v_pages <= c_pages THEN
        RETURN v_count;
    END IF;
    RETURN (
        SELECT v_pages * CASE
            WHEN pg_class.relpages > 0 AND pg_class.reltuples >= 0 THEN pg_class.reltuples / pg_class.relpages
            ELSE v_count::double precision / c_pages
        END
        FROM pg_catalog.pg_class WHERE pg_class.oid = p_table
    );
END
$$;

CREATE FUNCTION letsswitch.stored() RETURNS TABLE (name text, rows bigint)
LANGUAGE sql VOLATILE AS $$
    VALUES
        ('tasks', letsswitch.stored('letsswitch.task')),
        ('series', letsswitch.stored('letsswitch.series')),
        ('addresses', letsswitch.stored('letsswitch.address')),
        ('calendars', letsswitch.stored('letsswitch.calendar')),
        ('sessions', letsswitch.stored('letsswitch.question_session')),
        ('questions', letsswitch.stored('letsswitch.question')),
        ('votes', letsswitch.stored('letsswitch.question_vote')),
        ('users', letsswitch.stored('letsswitch.chat_user') + letsswitch.stored('letsswitch.retired_name')),
        ('conversations', letsswitch.stored('letsswitch.conversation')),
        ('messages', letsswitch.stored('letsswitch.message')),
        ('blocks', letsswitch.stored('letsswitch.block')),
        ('preferences', letsswitch.stored('letsswitch.preference'))
$$;

-- Collects statistics of the tables that have doubled since theirs were collected, so that plans fit a table that grows before autovacuum
-- looks at it. A plan that was made while the table was empty is made again then. Tables above 80 MB are left to autovacuum. Returns the
-- number of tables.
CREATE FUNCTION letsswitch.analyze_grown() RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    c_most_pages CONSTANT integer := 10000;
    v_page integer := current_setting('block_size')::integer;
    v_table record;
    v_count integer := 0;
BEGIN
    FOR v_table IN
        SELECT grown.oid::regclass AS name FROM pg_catalog.pg_class AS grown
        WHERE grown.relnamespace = 'letsswitch'::regnamespace AND grown.relkind = 'r' AND grown.relpages < c_most_pages
            AND pg_relation_size(grown.oid) / v_page > 2 * grown.relpages
        ORDER BY grown.oid
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) %s', v_table.name);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END
$$;
