-- Erases devices, and deletes old tasks.

-- Erases a person: everything that the device has registered is invisible when this is committed. A small number of
-- rows is deleted at once, the rest in steps of `erase_more`, so that nothing waits for it. Returns the starts at which
-- nobody waits any more, or whose partner has lost a title, for those who look at the day; NULL among them if the rest
-- is still to come. Sessions that still act for the device are ended by letsswitch_erased, on every daemon, or at their
-- next request, for which `erased` keeps it for a while.
CREATE FUNCTION letsswitch.erase_device(p_device text) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    c_batch CONSTANT integer := 500;
    v_person text := letsswitch.person_tag(p_device);
    v_up_to bigint;
    v_events_up_to bigint;
    v_addresses bigint[];
    v_is_known boolean;
BEGIN
    PERFORM letsswitch.lock_erasing(p_device);
    -- Tasks that a series is creating now are committed then, and are among the tasks.
    DELETE FROM letsswitch.series WHERE series.id = ANY (ARRAY(
        SELECT own.id FROM letsswitch.series AS own WHERE own.device_id = p_device ORDER BY own.id FOR UPDATE));
    v_up_to := coalesce((
        SELECT task.registered FROM letsswitch.task WHERE task.device_id || '' = p_device
        ORDER BY task.registered DESC LIMIT 1
    ), 0);
    v_events_up_to := coalesce((
        SELECT past.id FROM letsswitch.event AS past WHERE past.person = v_person AND past.title IS NOT NULL
        ORDER BY past.person DESC, past.id DESC LIMIT 1
    ), 0);
    INSERT INTO letsswitch.erased AS known (person, erased_at) VALUES (v_person, letsswitch.clock())
    ON CONFLICT (person) DO UPDATE SET erased_at = excluded.erased_at;
    PERFORM letsswitch.delete_erasures(c_batch);
    PERFORM pg_notify('letsswitch_erased', p_device);
    v_is_known := v_up_to > letsswitch.erased_up_to(p_device)
        OR EXISTS (SELECT FROM letsswitch.address WHERE address.device_id = p_device)
        OR EXISTS (SELECT FROM letsswitch.calendar WHERE calendar.device_id = p_device)
        OR v_events_up_to > coalesce((
            SELECT erasure.events_up_to FROM letsswitch.erasure WHERE erasure.device_id = p_device), 0);
    INSERT INTO letsswitch.erasure AS known (device_id, up_to, person, events_up_to, next_try_at)
    VALUES (p_device, v_up_to, v_person, v_events_up_to, letsswitch.clock())
    ON CONFLICT (device_id) DO UPDATE SET
        up_to = greatest(known.up_to, excluded.up_to),
        events_up_to = greatest(known.events_up_to, excluded.events_up_to);
    PERFORM letsswitch.retire_user(p_device);
    IF c_batch >= (
        SELECT count(*) FROM (
            SELECT FROM letsswitch.task WHERE task.device_id = p_device LIMIT c_batch + 1
        ) AS counted
    ) THEN
        RETURN QUERY SELECT gone.starts_at FROM letsswitch.erase_some(p_device, c_batch) AS gone;
    ELSE
        -- From here on nobody can see the device's texts. This also notifies those who look at them.
        PERFORM letsswitch.empty_questions(p_device, c_batch);
        PERFORM letsswitch.empty_messages(p_device, c_batch);
    END IF;
    DELETE FROM letsswitch.calendar WHERE calendar.device_id = p_device;
    v_addresses := ARRAY(SELECT own.id FROM letsswitch.address AS own WHERE own.device_id = p_device);
    PERFORM letsswitch.lock_address_rows(v_addresses);
    DELETE FROM letsswitch.address WHERE address.id = ANY (v_addresses) AND address.device_id = p_device;
    IF v_is_known THEN
        PERFORM letsswitch.write_event('device.erased', p_device);
    END IF;
    IF EXISTS (SELECT FROM letsswitch.erasure WHERE erasure.device_id = p_device) THEN
        starts_at := NULL;
        RETURN NEXT;
    END IF;
END
$$;

-- Deletes records of erasures that are older than any request that could have been in progress.
CREATE FUNCTION letsswitch.delete_erasures(p_limit integer) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM letsswitch.erased WHERE erased.person = ANY (ARRAY(
        SELECT past.person FROM letsswitch.erased AS past
        WHERE past.erased_at < letsswitch.clock() - interval '10 minutes'
        ORDER BY past.erased_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ))
$$;

-- Deletes p_limit tasks, and the data of as many events, of a person who is being erased and whose rows aren't locked.
-- Returns what `erase_device` returns, and always NULL if it found somebody: more may be left until it returns nothing.
-- If a deletion fails, that person is retried after a minute, and the others continue.
CREATE FUNCTION letsswitch.erase_more(p_limit integer) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_device text;
BEGIN
    SELECT erasure.device_id INTO v_device FROM letsswitch.erasure
    WHERE erasure.next_try_at <= v_now
    ORDER BY erasure.next_try_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN NEXT;
    BEGIN
        RETURN QUERY SELECT gone.starts_at FROM letsswitch.erase_some(v_device, p_limit) AS gone;
        -- The person who has waited longest comes next.
        UPDATE letsswitch.erasure SET next_try_at = v_now WHERE erasure.device_id = v_device;
    EXCEPTION WHEN OTHERS THEN
        IF letsswitch.is_transient_error(SQLSTATE) THEN
            RAISE;
        END IF;
        RAISE WARNING 'a device can''t be erased: % (%)', SQLERRM, SQLSTATE;
        UPDATE letsswitch.erasure SET next_try_at = v_now + interval '1 minute' WHERE erasure.device_id = v_device;
    END;
END
$$;

-- One step. The device's `erasure` row, which is locked, is deleted with the last of its rows.
CREATE FUNCTION letsswitch.erase_some(p_device text, p_limit integer) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_erasure letsswitch.erasure;
    v_tasks uuid[];
    v_events bigint;
    v_emptied bigint;
    v_messages bigint;
    v_unblocked bigint;
    v_unpreferred bigint;
BEGIN
    SELECT * INTO v_erasure FROM letsswitch.erasure WHERE erasure.device_id = p_device;
    v_tasks := ARRAY(
        SELECT task.id FROM letsswitch.task
        WHERE task.device_id || '' = p_device AND task.registered <= v_erasure.up_to
        ORDER BY task.registered LIMIT p_limit
    );
    IF cardinality(v_tasks) > 0 THEN
        RETURN QUERY SELECT gone.starts_at FROM letsswitch.erase_tasks(v_tasks) AS gone;
    END IF;
    v_events := letsswitch.empty_events(v_erasure.person, v_erasure.events_up_to, p_limit);
    v_emptied := letsswitch.empty_questions(p_device, p_limit);
    v_messages := letsswitch.empty_messages(p_device, p_limit);
    v_unblocked := letsswitch.delete_blocks(p_device, p_limit);
    v_unpreferred := letsswitch.delete_preferences(p_device, p_limit);
    IF greatest(cardinality(v_tasks), v_events, v_emptied, v_messages, v_unblocked, v_unpreferred) < p_limit THEN
        DELETE FROM letsswitch.erasure WHERE erasure.device_id = p_device;
    END IF;
END
$$;

-- Erases tasks of one device, at most some hundreds. The match of a task with a partner stays until it is over. A
-- reminder's delivery, which has no personal data, is deleted when its turn comes. Each step goes from the tasks to
-- their rows, by subqueries that the planner can't reorder. Statistics may not yet know so many tasks, and the planner
-- would then read everybody's rows for each.
CREATE FUNCTION letsswitch.erase_tasks(p_tasks uuid[]) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    -- The columns that a move changes.
    v_registered bigint[] := ARRAY(
        SELECT task.registered FROM letsswitch.task WHERE task.id = ANY (p_tasks) ORDER BY task.registered);
    v_waiting uuid[];
    v_reminders uuid[];
    v_now timestamptz;
    v_gone letsswitch.task[];
BEGIN
    -- A transaction that matches or cancels one of these is before or after this one, never in between.
    v_waiting := ARRAY(
        SELECT held.task_id FROM (
            SELECT task.reminds_at, task.registered FROM letsswitch.task
            WHERE task.id = ANY (p_tasks) ORDER BY task.starts_at OFFSET 0
        ) AS own
        CROSS JOIN LATERAL (
            SELECT due.task_id FROM letsswitch.due
            WHERE due.reminds_at = own.reminds_at AND due.registered = own.registered
            FOR UPDATE
        ) AS held
    );
    -- Transactions that deliver or purge also lock several of them.
    v_reminders := ARRAY(
        SELECT claimed.id FROM (
            SELECT task.id, task.starts_at FROM letsswitch.task WHERE task.id = ANY (p_tasks) OFFSET 0
        ) AS own
        CROSS JOIN LATERAL (
            SELECT reminder.id FROM letsswitch.reminder
            WHERE reminder.starts_at = own.starts_at AND reminder.task_id = own.id
            OFFSET 0
        ) AS claimed
    );
    PERFORM FROM letsswitch.reminder WHERE reminder.id = ANY (v_reminders) ORDER BY reminder.id FOR UPDATE;
    IF EXISTS (
        SELECT FROM letsswitch.task WHERE task.id = ANY (p_tasks) AND NOT task.registered = ANY (v_registered)
    ) THEN
        RAISE 'a task was moved meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    v_now := letsswitch.clock();
    -- A member of a room is known by the task, and must leave. As many ids as fit into a payload.
    PERFORM pg_notify('letsswitch_erased_tasks', string_agg(own.id::text, ','))
    FROM (
        SELECT task.id, row_number() OVER () AS place FROM letsswitch.task
        WHERE task.id = ANY (p_tasks) AND task.reminds_at <= v_now AND task.closes_at > v_now
    ) AS own
    GROUP BY own.place / 200;

    DELETE FROM letsswitch.attendance WHERE attendance.ctid = ANY (ARRAY(
        SELECT own.place FROM (
            SELECT task.id, task.room_id FROM letsswitch.task WHERE task.id = ANY (p_tasks) OFFSET 0
        ) AS erased
        CROSS JOIN LATERAL (
            SELECT attendance.ctid AS place FROM letsswitch.attendance
            WHERE attendance.room_id = erased.room_id AND attendance.task_id = erased.id
            OFFSET 0
        ) AS own
    ));
    DELETE FROM letsswitch.presence WHERE presence.ctid = ANY (ARRAY(
        SELECT own.place FROM (
            SELECT task.id, task.room_id FROM letsswitch.task WHERE task.id = ANY (p_tasks) OFFSET 0
        ) AS erased
        CROSS JOIN LATERAL (
            SELECT presence.ctid AS place FROM letsswitch.presence
            WHERE presence.room_id = erased.room_id AND presence.task_id = erased.id
            OFFSET 0
        ) AS own
    ));
    RETURN QUERY
    WITH anonymous AS (
        UPDATE letsswitch.task SET device_id = NULL, title = NULL, series_id = NULL, series_day = NULL, invitation = NULL
        WHERE task.id = ANY (p_tasks) AND task.partner_id IS NOT NULL AND task.closes_at > v_now
        RETURNING task.starts_at
    )
    SELECT extract(epoch FROM anonymous.starts_at)::bigint FROM anonymous;
    WITH gone AS (
        DELETE FROM letsswitch.task WHERE task.id = ANY (p_tasks) AND task.device_id IS NOT NULL RETURNING task
    )
    SELECT array_agg(gone.task) INTO v_gone FROM gone;
    IF v_gone IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM letsswitch.due WHERE due.ctid = ANY (ARRAY(
        SELECT held.ctid FROM unnest(v_gone) AS gone
        CROSS JOIN LATERAL (
            SELECT due.ctid FROM letsswitch.due
            WHERE due.reminds_at = gone.reminds_at AND due.registered = gone.registered
            OFFSET 0
        ) AS held
    ));
    DELETE FROM letsswitch.reminder
    WHERE reminder.id = ANY (v_reminders) AND reminder.task_id = ANY (ARRAY(SELECT gone.id FROM unnest(v_gone) AS gone));
    RETURN QUERY
    SELECT extract(epoch FROM gone.starts_at)::bigint FROM unnest(v_gone) AS gone
    WHERE gone.partner_id IS NULL AND gone.invites_until IS NULL AND gone.id = ANY (v_waiting);
END
$$;

-- Deletes tasks that started more than p_retention seconds ago, and what is left of erased persons once it is over;
-- p_limit tasks of each kind at a time. Returns how many; more may be left until that is 0.
CREATE FUNCTION letsswitch.purge(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    v_reminders uuid[];
    v_made record;
BEGIN
    -- An unclaimed task has no reminder, so it isn't in the history.
    v_reminders := ARRAY(
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.starts_at < v_before ORDER BY reminder.starts_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) || ARRAY(
        SELECT reminder.id FROM letsswitch.task
        JOIN letsswitch.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
        WHERE task.device_id IS NULL AND task.starts_at <= v_now AND task.closes_at <= v_now
        ORDER BY task.starts_at LIMIT p_limit
        FOR UPDATE OF reminder SKIP LOCKED
    );
    FOR v_made IN
        WITH past AS (
            DELETE FROM letsswitch.reminder WHERE reminder.id = ANY (v_reminders) RETURNING reminder.task_id
        ), gone AS (
            DELETE FROM letsswitch.task WHERE task.id = ANY (ARRAY(SELECT past.task_id FROM past))
            RETURNING task.device_id, task.starts_at, task.series_id
        )
        SELECT gone.device_id, max(gone.starts_at) AS latest FROM gone
        WHERE gone.device_id IS NOT NULL AND gone.series_id IS NULL GROUP BY gone.device_id
    LOOP
        PERFORM letsswitch.touch_device(v_made.device_id, v_made.latest);
    END LOOP;
    -- The oldest claims, if nothing is left of them.
    DELETE FROM letsswitch.claim WHERE claim.batch = ANY (ARRAY(
        SELECT oldest.batch FROM letsswitch.claim AS oldest ORDER BY oldest.batch LIMIT p_limit FOR UPDATE SKIP LOCKED
    )) AND NOT EXISTS (
        SELECT FROM letsswitch.reminder
        WHERE reminder.id > letsswitch.first_reminder_id(claim.batch) AND reminder.id < letsswitch.first_reminder_id(claim.batch + 1)
    );
    PERFORM letsswitch.delete_erasures(p_limit);
    RETURN cardinality(v_reminders);
END
$$;
