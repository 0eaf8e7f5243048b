-- Calendar feeds of the tasks of devices.

-- A task as the feed shows it. Instants are epoch seconds.
CREATE TYPE schedule.calendar_entry AS (
    task_id uuid,
    title text,
    -- NULL: the task has no partner, or the partner was erased.
    partner_title text,
    is_paired boolean,
    starts_at bigint,
    reminds_at double precision,
    closes_at double precision
);

-- Returns the secret of a device's calendar feed. If the device has no feed, creates one with p_secret. Returns NULL
-- instead if p_is_full is true.
CREATE FUNCTION schedule.ensure_calendar(p_device text, p_secret text, p_is_full boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    UPDATE schedule.calendar SET used_at = v_now
    WHERE calendar.device_id = p_device AND calendar.used_at < v_now - interval '1 day';
    INSERT INTO schedule.calendar (device_id, secret, revised_at, used_at)
    SELECT p_device, p_secret, v_now, v_now WHERE NOT p_is_full
    ON CONFLICT (device_id) DO NOTHING;
    -- A separate statement, because it sees a feed that another transaction may have committed in the meantime.
    RETURN (SELECT calendar.secret FROM schedule.calendar WHERE calendar.device_id = p_device);
END
$$;

CREATE FUNCTION schedule.revoke_calendar(p_device text) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM schedule.calendar WHERE device_id = p_device
$$;

-- Returns the tasks of the device whose feed has this secret, in order of time, at most the latest 2,000. Without tasks
-- it returns one row whose task_id is NULL. Without such a feed it returns no row. If the tasks have changed since the
-- feed was last read, the revision is incremented, because calendar programs keep the entry with the highest revision.
CREATE FUNCTION schedule.read_calendar(p_secret text) RETURNS TABLE (
    revision integer, revised_at bigint, task_id uuid, title text, partner_title text, is_paired boolean,
    starts_at bigint, reminds_at double precision, closes_at double precision
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_device text;
    v_erased bigint;
    v_entries schedule.calendar_entry[];
    v_digest text;
BEGIN
    SELECT calendar.device_id INTO v_device FROM schedule.calendar WHERE calendar.secret = p_secret;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_erased := core.erased_up_to(v_device);
    SELECT coalesce(array_agg(own.entry ORDER BY (own.entry).starts_at), '{}') INTO v_entries FROM (
        SELECT (
            task.id, task.title, partner.title, task.partner_id IS NOT NULL,
            date_part('epoch', task.starts_at)::bigint, date_part('epoch', task.reminds_at),
            date_part('epoch', task.closes_at)
        )::schedule.calendar_entry AS entry
        FROM schedule.task
        LEFT JOIN LATERAL (
            SELECT visible.title FROM schedule.visible_task AS visible WHERE visible.id = task.partner_id LIMIT 1
        ) AS partner ON true
        WHERE task.device_id = v_device AND task.registered > v_erased
        ORDER BY task.starts_at DESC
        LIMIT 2000
    ) AS own;
    v_digest := md5(v_entries::text);
    UPDATE schedule.calendar SET
        digest = v_digest, revised_at = core.clock(),
        revision = calendar.revision + CASE WHEN calendar.digest IS NULL THEN 0 ELSE 1 END
    WHERE calendar.device_id = v_device AND calendar.digest IS DISTINCT FROM v_digest;
    UPDATE schedule.calendar SET used_at = core.clock()
    WHERE calendar.device_id = v_device AND calendar.used_at < core.clock() - interval '1 day';
    RETURN QUERY
    SELECT
        calendar.revision, date_part('epoch', calendar.revised_at)::bigint, entry.task_id, entry.title,
        entry.partner_title, entry.is_paired, entry.starts_at, entry.reminds_at, entry.closes_at
    FROM schedule.calendar
    LEFT JOIN LATERAL unnest(v_entries) AS entry ON true
    WHERE calendar.device_id = v_device
    ORDER BY entry.starts_at;
END
$$;
