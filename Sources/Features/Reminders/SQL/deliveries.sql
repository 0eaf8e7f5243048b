-- The deliveries and events of claims. They are written in the transaction of the claim.

-- Writes the deliveries of a batch's reminders to the addresses of devices. p_only limits this to one reminder, unless
-- it is NULL.
CREATE FUNCTION reminders.write_deliveries(p_batch bigint, p_only uuid, p_providers text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_from uuid := reminders.first_reminder_id(p_batch);
    v_until uuid := reminders.first_reminder_id(p_batch + 1);
BEGIN
    INSERT INTO core.delivery (channel, urgent, message_id, task_id, address_id, created_at, next_try_at, deadline)
    SELECT address.channel, true, reminder.id, task.id, address.id, reminder.claimed_at, reminder.claimed_at,
        reminder.starts_at
    FROM reminders.reminder
    JOIN schedule.visible_task AS task ON task.id = reminder.task_id
    JOIN core.address ON address.device_id = task.device_id
    WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
        AND reminder.state = 'pending' AND address.channel = ANY (p_providers);
END
$$;

-- Writes the deliveries and events of a batch in the transaction of its claim. If that fails, each reminder is tried
-- separately, so that one bad row doesn't delay the other reminders.
CREATE FUNCTION reminders.write_claimed(p_batch bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_providers text[] := core.addressed_providers();
    v_has_subscribers boolean := core.has_subscribers();
    v_reminder uuid;
BEGIN
    IF v_providers = '{}' AND NOT v_has_subscribers THEN
        RETURN;
    END IF;
    BEGIN
        IF v_providers <> '{}' THEN
            PERFORM reminders.write_deliveries(p_batch, NULL, v_providers);
        END IF;
        IF v_has_subscribers THEN
            PERFORM reminders.write_claim_events(p_batch, NULL);
        END IF;
        RETURN;
    EXCEPTION WHEN OTHERS THEN
        IF core.is_transient_error(SQLSTATE) THEN
            RAISE;
        END IF;
        RAISE WARNING 'the deliveries of batch % can''t be written together: % (%)', p_batch, SQLERRM, SQLSTATE;
    END;
    FOR v_reminder IN
        SELECT reminder.id FROM reminders.reminder
        WHERE reminder.id > reminders.first_reminder_id(p_batch) AND reminder.id < reminders.first_reminder_id(p_batch + 1)
    LOOP
        BEGIN
            PERFORM reminders.write_deliveries(p_batch, v_reminder, v_providers);
            IF v_has_subscribers THEN
                PERFORM reminders.write_claim_events(p_batch, v_reminder);
            END IF;
        EXCEPTION WHEN OTHERS THEN
            IF core.is_transient_error(SQLSTATE) THEN
                RAISE;
            END IF;
            RAISE WARNING 'the deliveries of reminder % can''t be written: % (%)', v_reminder, SQLERRM, SQLSTATE;
        END;
    END LOOP;
END
$$;

-- Writes deliveries to a device's new address, for reminders that were claimed before the address was registered and
-- whose tasks haven't started. The caller holds the claims' lock, so each claim has either written to the address
-- itself, or is visible here.
CREATE FUNCTION reminders.write_late_deliveries(p_device text, p_channel text, p_address text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
BEGIN
    IF NOT p_channel = ANY (core.addressed_providers()) THEN
        RETURN;
    END IF;
    INSERT INTO core.delivery (channel, urgent, message_id, task_id, address_id, created_at, next_try_at, deadline)
    SELECT p_channel, true, claimed.id, task.id, address.id, v_now, v_now, task.starts_at
    FROM schedule.tasks_of(p_device, v_now, 'infinity') AS task
    CROSS JOIN LATERAL (
        SELECT reminder.id, reminder.state FROM reminders.reminder
        WHERE reminder.starts_at = task.starts_at AND reminder.task_id = task.id
        LIMIT 1
    ) AS claimed
    JOIN core.address ON address.channel = p_channel AND address.address = p_address
    WHERE claimed.state <> 'missed';
    IF FOUND THEN
        -- A different daemon may serve the provider.
        PERFORM pg_notify('letsswitch_deliveries', p_channel);
    END IF;
END
$$;

-- Writes the events of a batch's reminders, and of the rooms that they open. p_only limits this to one reminder, unless
-- it is NULL. Each room also gets the event of its end, which has no number until it is sent. The caller holds the
-- claims' lock.
CREATE FUNCTION reminders.write_claim_events(p_batch bigint, p_only uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_from uuid := reminders.first_reminder_id(p_batch);
    v_until uuid := reminders.first_reminder_id(p_batch + 1);
BEGIN
    WITH opened AS (
        INSERT INTO core.event (number, type, happened_at, task_ids, room_id, starts_at, closes_at)
        SELECT
            CASE WHEN entry.type = 'room.opened' THEN nextval('core.event_number') END, entry.type, entry.at,
            schedule.match_tasks(task.id, task.partner_id), task.room_id, task.starts_at, task.closes_at
        FROM reminders.reminder
        JOIN schedule.visible_task AS task ON task.id = reminder.task_id
        CROSS JOIN LATERAL (
            VALUES ('room.opened', reminder.claimed_at), ('room.closed', task.closes_at)
        ) AS entry (type, at)
        WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
            AND task.partner_id IS NOT NULL AND task.closes_at > reminder.claimed_at
            -- The first of a match's two reminders writes the events of the room.
            AND NOT EXISTS (
                SELECT FROM reminders.reminder AS other
                WHERE other.starts_at = reminder.starts_at AND other.task_id = task.partner_id AND other.id < reminder.id)
        ORDER BY entry.type DESC, reminder.id
        RETURNING event.id, event.type, event.happened_at
    )
    INSERT INTO core.delivery (channel, urgent, message_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, false, gen_random_uuid(), opened.id, opened.happened_at, due.at, due.at + core.event_lifetime()
    FROM opened
    -- The end of a room is sent two seconds later, so that reports of attendance arrive first.
    CROSS JOIN LATERAL (
        SELECT opened.happened_at + CASE opened.type WHEN 'room.closed' THEN interval '2 seconds' ELSE '0' END AS at
    ) AS due
    CROSS JOIN core.provider
    WHERE provider.subscribes AND provider.disabled_at IS NULL;

    WITH reminded AS (
        INSERT INTO core.event (type, happened_at, task_ids, reminder_id)
        SELECT 'reminder', reminder.claimed_at, ARRAY[task.id], reminder.id
        FROM reminders.reminder
        JOIN schedule.visible_task AS task ON task.id = reminder.task_id
        WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
            AND reminder.state = 'pending' AND task.device_id IS NOT NULL
        ORDER BY reminder.id
        RETURNING event.id, event.happened_at, event.task_ids[1] AS task_id, event.reminder_id
    )
    INSERT INTO core.delivery (channel, urgent, message_id, task_id, event_id, created_at, next_try_at, deadline)
    SELECT provider.name, true, reminded.reminder_id, reminded.task_id, reminded.id, reminded.happened_at,
        reminded.happened_at, task.starts_at
    FROM reminded
    JOIN schedule.visible_task AS task ON task.id = reminded.task_id
    CROSS JOIN core.provider
    WHERE provider.subscribes AND provider.disabled_at IS NULL;
END
$$;
