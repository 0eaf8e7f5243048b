-- Sending the deliveries of the outbox: a daemon leases them, sends them, and deletes them.

-- Content ----------------------------------------------------------------------------------------------------------

-- Returns the day of a start as text, such as `Wed 25 Nov`. Returns NULL if the day is today in the zone, or if the
-- zone is unknown.
CREATE FUNCTION notifications.start_day_text(p_starts_at timestamptz, p_zone text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_rules text := schedule.stored_zone_rules(p_zone);
    v_start timestamp := p_starts_at AT TIME ZONE v_rules;
BEGIN
    RETURN CASE WHEN v_start::date <> (core.clock() AT TIME ZONE v_rules)::date THEN to_char(v_start, 'FMDy FMDD Mon') END;
END
$$;

-- Returns the tags of the devices of these tasks, in order; NULL for a task without a known device.
CREATE FUNCTION notifications.owners_of(p_tasks uuid[]) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT array_agg(core.person_tag(task.device_id) ORDER BY own.place)
    FROM unnest(p_tasks) WITH ORDINALITY AS own (id, place)
    LEFT JOIN schedule.visible_task AS task ON task.id = own.id
$$;

-- Returns which of these tasks' users were in a room, and the largest number of members that one daemon has had in it.
CREATE FUNCTION notifications.room_visitors(p_room uuid, p_tasks uuid[]) RETURNS TABLE (came uuid[], most_peers integer)
LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT
        -- The row of a user who was moved here from another room has no visits until the user joins.
        array_agg(attendance.task_id ORDER BY attendance.task_id)
            FILTER (WHERE attendance.task_id = ANY (p_tasks) AND attendance.visits > 0),
        max(attendance.most_peers)
    FROM core.attendance WHERE attendance.room_id = p_room
$$;

-- The deliveries with what they send. The columns are those of the type lease. is_notice: a notification that the
-- partner has changed.
CREATE VIEW notifications.delivery_content AS
SELECT
    delivery.id, kind.is_notice, delivery.address_id,
    CASE
        -- If the task was moved to another start, its reminder was deleted. It gets a new one there.
        WHEN delivery.urgent AND (task.device_id IS NULL OR NOT reminders.has_reminder(delivery.message_id)) THEN 'orphaned'
        WHEN delivery.event_id IS NOT NULL AND event.id IS NULL THEN 'orphaned'
        -- The task was moved meanwhile. The user who moved it has seen the change.
        WHEN kind.is_notice AND task.notified_at IS NULL THEN 'orphaned'
        -- A user in the room was notified there, and sees the other members.
        WHEN kind.is_notice AND EXISTS (
            SELECT FROM core.attendance
            WHERE attendance.room_id = task.room_id AND attendance.task_id = task.id AND attendance.present > 0
        ) THEN 'orphaned'
        -- The user has read everything meanwhile, is connected, or has muted or left the conversation.
        WHEN delivery.conversation_id IS NOT NULL AND unread.device_id IS NULL THEN 'orphaned'
        WHEN delivery.address_id IS NOT NULL AND address.id IS NULL THEN 'orphaned'
        ELSE 'send'
    END AS verdict,
    CASE
        WHEN delivery.conversation_id IS NOT NULL THEN 'messages'
        WHEN kind.is_notice THEN 'partnerChanged'
        ELSE coalesce(event.type, 'reminder')
    END AS type,
    delivery.message_id, delivery.attempts AS attempt,
    date_part('epoch', coalesce(event.happened_at, delivery.created_at)) AS happened_at,
    date_part('epoch', delivery.deadline) AS deadline,
    address.address, address.details, date_part('epoch', address.registered_at) AS registered_at,
    event.number,
    coalesce(event.person, CASE
        WHEN delivery.urgent AND event.id IS NOT NULL THEN core.person_tag(task.device_id)
        WHEN delivery.conversation_id IS NOT NULL THEN core.person_tag(unread.device_id)
        WHEN event.type IN ('room.joined', 'room.left') THEN (notifications.owners_of(event.task_ids))[1]
    END) AS person,
    CASE WHEN event.type IN ('match.created', 'match.ended', 'room.opened', 'room.closed')
        THEN array_to_string(notifications.owners_of(event.task_ids), ',', '') END AS people,
    array_to_string(event.task_ids, ',') AS task_ids,
    CASE WHEN event.type = 'room.closed' THEN array_to_string(there.came, ',') END AS came,
    CASE WHEN event.type = 'room.closed' THEN coalesce(there.most_peers, 0) ELSE event.peers END AS peers,
    date_part('epoch', event.closes_at)::bigint AS closes_at,
    task.id AS task_id, delivery.urgent AS is_reminder, partner.title AS partner_task,
    CASE WHEN kind.is_notice THEN notifications.start_day_text(task.starts_at, task.time_zone) END AS day,
    -- The event of an erased user has the user's tag only.
    CASE WHEN erasure.person IS NULL THEN coalesce(event.title, task.title) END AS title,
    CASE WHEN erasure.person IS NULL THEN coalesce(event.start_time, task.start_time) END AS start_time,
    CASE WHEN erasure.person IS NULL THEN coalesce(event.time_zone, task.time_zone) END AS time_zone,
    date_part('epoch', coalesce(event.starts_at, task.starts_at))::bigint AS starts_at,
    coalesce(event.room_id, CASE WHEN task.partner_id IS NOT NULL THEN task.room_id END) AS room_id,
    delivery.conversation_id, unread.names, unread.authors, unread.messages, unread.recent
FROM core.delivery
CROSS JOIN LATERAL (
    SELECT NOT delivery.urgent AND delivery.event_id IS NULL AND delivery.conversation_id IS NULL AS is_notice
) AS kind
LEFT JOIN core.event ON event.id = delivery.event_id
LEFT JOIN core.erasure ON erasure.person = event.person AND erasure.events_up_to >= event.id
LEFT JOIN schedule.visible_task AS task ON task.id = delivery.task_id
LEFT JOIN schedule.visible_task AS partner ON partner.id = task.partner_id
LEFT JOIN LATERAL conversations.unread_messages(
    delivery.user_id, delivery.conversation_id, delivery.from_number, delivery.until_number
) AS unread ON delivery.conversation_id IS NOT NULL
-- If the address belongs to another device now, it doesn't receive the deliveries of this one.
LEFT JOIN core.address
    ON address.id = delivery.address_id AND address.device_id = coalesce(task.device_id, unread.device_id)
LEFT JOIN LATERAL notifications.room_visitors(event.room_id, event.task_ids) AS there ON event.type = 'room.closed';

-- Leases -----------------------------------------------------------------------------------------------------------

-- A delivery that a daemon has leased. Instants are epoch seconds.
CREATE TYPE notifications.lease AS (
    id bigint,
    -- `send`, `expired` (the deadline has passed, and the row is deleted) or `orphaned` (the delivery has no receiver
    -- any more).
    verdict text,
    -- The columns that follow are NULL for `expired`.
    type text, message_id uuid, attempt integer, happened_at double precision, deadline double precision,
    now double precision,
    -- Set for deliveries to an address.
    address text, details text, registered_at double precision,
    -- Set for an event. `people`, `task_ids` and `came` are separated by commas. An empty part is a user whose device
    -- is unknown.
    number bigint, person text, people text, task_ids text, came text, peers integer, closes_at bigint,
    -- Set for a reminder, and for a notification that the partner has changed. `day` is NULL if the task starts today.
    task_id uuid, is_reminder boolean, partner_task text, day text,
    -- Set for reminders, for notifications that the partner has changed, and for events.
    title text, start_time text, time_zone text, starts_at bigint, room_id uuid,
    -- Set for a notification of messages. See unread_messages.
    conversation_id uuid, names text, authors text, messages bigint, recent text
);

-- Leases deliveries that are due for p_lease seconds, the longest due first: at most p_reminders reminders and p_others
-- other deliveries. The daemon must finish a delivery or renew its lease by then; otherwise another daemon leases it.
CREATE FUNCTION notifications.lease_deliveries(
    p_channel text, p_reminders integer, p_others integer, p_lease double precision
) RETURNS SETOF notifications.lease
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_ids bigint[];
    v_late bigint[];
    v_expired notifications.lease;
BEGIN
    PERFORM notifications.touch_provider(p_channel, v_now);
    SELECT held.ids, held.late_ids INTO v_ids, v_late
    FROM notifications.lock_due_deliveries(p_channel, p_reminders, p_others, v_now) AS held;
    IF v_late IS NOT NULL THEN
        PERFORM core.delete_deliveries(v_late);
        v_expired.verdict := 'expired';
        FOREACH v_expired.id IN ARRAY v_late LOOP
            RETURN NEXT v_expired;
        END LOOP;
    END IF;
    IF v_ids IS NULL THEN
        RETURN;
    END IF;
    UPDATE core.delivery
    SET next_try_at = v_now + make_interval(secs => p_lease), attempts = delivery.attempts + 1,
        until_number = CASE
            WHEN delivery.conversation_id IS NOT NULL THEN conversations.last_number(delivery.conversation_id)
        END
    WHERE delivery.id = ANY (v_ids);
    PERFORM notifications.number_events(ARRAY(
        SELECT delivery.event_id FROM core.delivery WHERE delivery.id = ANY (v_ids) AND delivery.event_id IS NOT NULL
    ));
    RETURN QUERY
    SELECT
        own.id,
        CASE
            -- After an outage of the provider several notifications may be due with the same text. Only the last one is
            -- sent.
            WHEN own.is_notice AND EXISTS (
                SELECT FROM core.delivery AS later
                WHERE later.id = ANY (v_ids) AND later.id > own.id AND later.task_id = own.task_id
                    AND later.address_id = own.address_id AND NOT later.urgent AND later.event_id IS NULL
                    AND later.conversation_id IS NULL
            ) THEN 'orphaned'
            ELSE own.verdict
        END,
        own.type, own.message_id, own.attempt, own.happened_at, own.deadline, date_part('epoch', v_now),
        own.address, own.details, own.registered_at,
        own.number, own.person, own.people, own.task_ids, own.came, own.peers, own.closes_at,
        own.task_id, own.is_reminder, own.partner_task, own.day,
        own.title, own.start_time, own.time_zone, own.starts_at, own.room_id,
        own.conversation_id, own.names, own.authors, own.messages, own.recent
    FROM notifications.delivery_content AS own
    WHERE own.id = ANY (v_ids)
    ORDER BY own.id;
END
$$;

-- Locks deliveries of a provider that are due, the longest due first: at most p_reminders reminders and p_others other
-- deliveries. Locked ones are skipped. Returns the deliveries, and separately those whose deadline has passed. An array
-- is NULL if there are none.
CREATE FUNCTION notifications.lock_due_deliveries(
    p_channel text, p_reminders integer, p_others integer, p_now timestamptz, OUT ids bigint[], OUT late_ids bigint[]
)
LANGUAGE plpgsql AS $$
BEGIN
    WITH reminders AS (
        SELECT delivery.id, delivery.deadline FROM core.delivery
        WHERE delivery.channel = p_channel AND delivery.urgent AND delivery.next_try_at <= p_now
        ORDER BY delivery.next_try_at
        LIMIT p_reminders
        FOR UPDATE SKIP LOCKED
    ),
    others AS (
        SELECT delivery.id, delivery.deadline FROM core.delivery
        WHERE delivery.channel = p_channel AND NOT delivery.urgent AND delivery.next_try_at <= p_now
        ORDER BY delivery.next_try_at
        LIMIT p_others
        FOR UPDATE SKIP LOCKED
    ),
    due AS (SELECT * FROM reminders UNION ALL SELECT * FROM others)
    SELECT
        array_agg(due.id) FILTER (WHERE due.deadline > p_now), array_agg(due.id) FILTER (WHERE due.deadline <= p_now)
    INTO ids, late_ids FROM due;
END
$$;

-- Renews the leases of deliveries for p_lease seconds. The arrays have one element per delivery. p_attempts are the
-- numbers of attempts when this daemon leased them. A delivery that another daemon has leased since then isn't renewed.
-- Returns the renewed deliveries.
CREATE FUNCTION notifications.renew_deliveries(p_ids bigint[], p_attempts integer[], p_lease double precision)
RETURNS TABLE (id bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_until timestamptz := core.clock() + make_interval(secs => p_lease);
BEGIN
    PERFORM FROM core.delivery WHERE delivery.id = ANY (p_ids) ORDER BY delivery.id FOR UPDATE;
    RETURN QUERY
    UPDATE core.delivery SET next_try_at = v_until
    FROM unnest(p_ids, p_attempts) AS held (id, attempt)
    WHERE delivery.id = held.id AND delivery.attempts = held.attempt
    RETURNING delivery.id;
END
$$;

-- Writes the results of attempts. Returns the reminders that are delivered now for the first time.
--   p_accepted, p_dropped   finished; only the accepted ones count as delivered
--   p_gone                  finished; the address is deleted, unless it was registered again in the meantime
--   p_again                 tried again after p_delays seconds; if p_begun is false, the lease is not an attempt
CREATE FUNCTION notifications.finish_deliveries(
    p_accepted bigint[], p_dropped bigint[], p_gone bigint[],
    p_again bigint[], p_attempts integer[], p_begun boolean[], p_delays double precision[]
) RETURNS TABLE (reminder_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := core.clock();
    v_reminders uuid[];
    v_events bigint[];
    v_notified core.delivery[];
BEGIN
    -- Reminders are locked before deliveries, in the common order of locks (tasks.sql).
    SELECT array_agg(delivery.message_id) INTO v_reminders FROM core.delivery
    WHERE delivery.id = ANY (p_accepted) AND delivery.urgent;
    IF v_reminders IS NOT NULL THEN
        RETURN QUERY SELECT * FROM reminders.mark_delivered(v_reminders);
    END IF;
    -- Conversations are locked before deliveries, as when a message is sent. A message that is being stored at the same
    -- time is either covered by the rows deleted here, or found by renew_message_notifications.
    PERFORM conversations.lock_notified(ARRAY(
        SELECT delivery.conversation_id FROM core.delivery
        WHERE delivery.id = ANY (p_accepted || p_dropped || p_gone || p_again) AND delivery.conversation_id IS NOT NULL
    ));
    PERFORM FROM core.delivery
    WHERE delivery.id = ANY (p_accepted || p_dropped || p_gone || p_again) ORDER BY delivery.id FOR UPDATE;
    PERFORM core.lock_address_rows(ARRAY(
        SELECT delivery.address_id FROM core.delivery
        WHERE delivery.id = ANY (p_gone) AND delivery.address_id IS NOT NULL
    ));
    DELETE FROM core.address USING core.delivery
    WHERE delivery.id = ANY (p_gone) AND address.id = delivery.address_id
        AND address.registered_at <= delivery.created_at;
    SELECT array_agg(delivery) INTO v_notified FROM core.delivery
    WHERE delivery.id = ANY (p_accepted || p_dropped) AND delivery.until_number IS NOT NULL;
    WITH done AS (
        DELETE FROM core.delivery WHERE delivery.id = ANY (p_accepted || p_dropped || p_gone)
        RETURNING delivery.event_id
    )
    SELECT array_agg(done.event_id) INTO v_events FROM done WHERE done.event_id IS NOT NULL;
    PERFORM core.delete_events(v_events);
    IF v_notified IS NOT NULL THEN
        PERFORM conversations.renew_message_notifications(v_notified);
    END IF;
    UPDATE core.delivery SET
        next_try_at = v_now + make_interval(secs => again.delay),
        attempts = delivery.attempts - CASE WHEN again.begun THEN 0 ELSE 1 END
    FROM unnest(p_again, p_attempts, p_begun, p_delays) AS again (id, attempt, begun, delay)
    WHERE delivery.id = again.id AND delivery.attempts = again.attempt;
END
$$;

-- Returns when a provider's next reminder (urgent) and its next other delivery are due, and the number of its
-- deliveries, counted up to 10,000. Instants are epoch seconds.
CREATE FUNCTION notifications.next_delivery(
    p_channel text,
    OUT urgent double precision, OUT others double precision, OUT now double precision, OUT waiting bigint
)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    urgent := extract(epoch FROM (
        SELECT min(delivery.next_try_at) FROM core.delivery
        WHERE delivery.channel = p_channel AND delivery.urgent));
    others := extract(epoch FROM (
        SELECT min(delivery.next_try_at) FROM core.delivery
        WHERE delivery.channel = p_channel AND NOT delivery.urgent));
    now := extract(epoch FROM core.clock());
    waiting := (SELECT count(*) FROM (
        SELECT FROM core.delivery WHERE delivery.channel = p_channel LIMIT 10000) AS counted);
END
$$;

-- Numbers those of these events that have no number yet: the ends of rooms. No statement runs when a room ends, so its
-- event gets a number when it is first leased.
CREATE FUNCTION notifications.number_events(p_ids bigint[]) RETURNS void
LANGUAGE sql AS $$
    UPDATE core.event SET number = numbered.number
    FROM (
        SELECT late.id, nextval('core.event_number') AS number
        FROM (
            SELECT event.id FROM core.event WHERE event.id = ANY (p_ids) AND event.number IS NULL
            ORDER BY event.happened_at, event.id
            FOR UPDATE
        ) AS late
    ) AS numbered
    WHERE event.id = numbered.id
$$;
