-- Where reminders go beside the event streams, and what is to be sent there.

-- What the daemons have made once and share: keys that nobody sets. Whoever comes first makes it.
CREATE TABLE letsswitch.secret (
    name text PRIMARY KEY,
    value bytea NOT NULL
);

-- The secret of this name, which is p_value when there was none.
CREATE FUNCTION letsswitch.keep_secret(p_name text, p_value bytea) RETURNS bytea
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
BEGIN
    INSERT INTO letsswitch.secret (name, value) VALUES (p_name, p_value) ON CONFLICT (name) DO NOTHING;
    -- A statement of its own, which sees what another daemon has committed meanwhile.
    RETURN (SELECT secret.value FROM letsswitch.secret WHERE secret.name = p_name);
END
$$;

-- Where a device is reached: a push token, a browser's subscription, a topic.
CREATE TABLE letsswitch.address (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device_id text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('apns', 'webpush', 'ntfy')),
    -- The channel's own name for it, no longer than an index entry may be.
    address text NOT NULL CHECK (octet_length(address) <= 2048),
    -- What else the channel has to know of it: a JSON object.
    details text NOT NULL,
    registered_at timestamptz NOT NULL,
    CONSTRAINT address_once UNIQUE (channel, address)
);
CREATE INDEX address_device ON letsswitch.address (device_id, channel, registered_at);

-- The push tokens of before.
INSERT INTO letsswitch.address (device_id, channel, address, details, registered_at)
SELECT device.id, 'apns', device.push_token, CASE WHEN device.sandbox THEN '{"sandbox":true}' ELSE '{"sandbox":false}' END,
    letsswitch.clock()
FROM letsswitch.device
ON CONFLICT ON CONSTRAINT address_once DO NOTHING;
DROP TABLE letsswitch.device;

-- What a courier is to send: one for each reminder and address, and one for each event of the webhook. Written in the
-- transaction that makes the reminder or the event.
--
--   waiting ──(lease)──▶ in a daemon's hands ──▶ deleted      accepted, refused, the address is gone, too late
--      ▲                        │
--      └──(next_try_at)─────────┘      to be tried again; or the daemon died, and the lease ran out
CREATE TABLE letsswitch.delivery (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel text NOT NULL,
    -- reminder, task.registered, task.cancelled, match.created, room.opened, room.closed, room.joined, room.left
    event text NOT NULL,
    -- Tells a repeat. A reminder's own id, on all of its addresses.
    message_id uuid NOT NULL,
    -- A reminder goes before everything else that is due: it is worth something for a minute.
    urgent boolean NOT NULL GENERATED ALWAYS AS (event = 'reminder') STORED,
    -- A reminder's.
    task_id uuid,
    -- Of an event that tells of a person, whom to forget it with; the task may be gone long before.
    device_id text,
    -- NULL: the channel has one address, which is a setting.
    address_id bigint,
    -- The event's data as JSON. NULL when they are read as it is sent: a reminder's from its task, a closed room's from
    -- who came.
    data text,
    -- The room that closes.
    room_id uuid,
    created_at timestamptz NOT NULL,
    -- While it is in somebody's hands: when the lease ends.
    next_try_at timestamptz NOT NULL,
    -- Not sent any more from then on.
    deadline timestamptz NOT NULL,
    -- Leases so far, but for those that came to nothing by no fault of the delivery. Who holds it knows the number.
    attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX delivery_due ON letsswitch.delivery (channel, urgent, next_try_at);
CREATE INDEX delivery_person ON letsswitch.delivery (device_id) WHERE device_id IS NOT NULL;

-- Who came to a room, of those who gave their task; for the webhook's room.closed.
CREATE TABLE letsswitch.attendance (
    room_id uuid PRIMARY KEY,
    starts_at timestamptz NOT NULL,
    closes_at timestamptz NOT NULL,
    -- The match's.
    task_ids uuid[] NOT NULL,
    came uuid[] NOT NULL DEFAULT '{}',
    -- At one time, on one daemon.
    most_peers integer NOT NULL DEFAULT 0
);
CREATE INDEX attendance_over ON letsswitch.attendance (closes_at);

-- Addresses --------------------------------------------------------------------------------------------------------

-- A device's address, of which it has p_most in this channel: the oldest go. An address that another device had is this
-- one's from now on.
CREATE FUNCTION letsswitch.register_address(
    p_device text, p_channel text, p_address text, p_details text, p_most integer
) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
BEGIN
    -- Two at once would not see each other, and both stay.
    PERFORM pg_advisory_xact_lock(19541, hashtext(p_device));
    INSERT INTO letsswitch.address (device_id, channel, address, details, registered_at)
    VALUES (p_device, p_channel, p_address, p_details, letsswitch.clock())
    ON CONFLICT ON CONSTRAINT address_once DO UPDATE SET
        device_id = excluded.device_id, details = excluded.details, registered_at = excluded.registered_at;
    DELETE FROM letsswitch.address WHERE id IN (
        SELECT older.id FROM letsswitch.address AS older
        WHERE older.device_id = p_device AND older.channel = p_channel AND older.address <> p_address
        ORDER BY older.registered_at DESC, older.id DESC
        OFFSET p_most - 1
    );
END
$$;

-- Forgets a device's address; all of the channel when p_address is NULL.
CREATE FUNCTION letsswitch.forget_address(p_device text, p_channel text, p_address text) RETURNS void
LANGUAGE sql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    DELETE FROM letsswitch.address
    WHERE device_id = p_device AND channel = p_channel AND (p_address IS NULL OR address = p_address)
$$;

-- As before, but a push token is one address among others.
CREATE OR REPLACE FUNCTION letsswitch.register_token(p_device text, p_token text, p_sandbox boolean) RETURNS void
LANGUAGE sql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    SELECT letsswitch.register_address(
        p_device, 'apns', p_token, CASE WHEN p_sandbox THEN '{"sandbox":true}' ELSE '{"sandbox":false}' END, 1)
$$;

-- Writing ----------------------------------------------------------------------------------------------------------

CREATE FUNCTION letsswitch.instant_text(p_instant timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT to_char(p_instant AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;

-- How long an event is to be sent: a day, and a little more for the last attempt, which is at its end.
CREATE FUNCTION letsswitch.event_patience() RETURNS interval
LANGUAGE sql IMMUTABLE AS $$ SELECT interval '24 hours 10 minutes' $$;

-- The deliveries of a batch's reminders, some of them when p_only names those; and for the webhook the rooms that the batch
-- opened, each with the end that it will have.
CREATE FUNCTION letsswitch.write_deliveries(p_batch bigint, p_only uuid, p_channels text[]) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_from uuid := letsswitch.first_id(p_batch);
    v_until uuid := letsswitch.first_id(p_batch + 1);
BEGIN
    INSERT INTO letsswitch.delivery (channel, event, message_id, task_id, address_id, created_at, next_try_at, deadline)
    SELECT address.channel, 'reminder', reminder.id, task.id, address.id, reminder.fired_at, reminder.fired_at,
        reminder.starts_at
    FROM letsswitch.reminder
    JOIN letsswitch.task ON task.id = reminder.task_id
    JOIN letsswitch.address ON address.device_id = task.device_id
    WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
        AND reminder.state = 'pending' AND address.channel = ANY (p_channels);
    IF NOT 'webhook' = ANY (p_channels) THEN
        RETURN;
    END IF;
    INSERT INTO letsswitch.delivery (channel, event, message_id, task_id, created_at, next_try_at, deadline)
    SELECT 'webhook', 'reminder', reminder.id, task.id, reminder.fired_at, reminder.fired_at, reminder.starts_at
    FROM letsswitch.reminder
    JOIN letsswitch.task ON task.id = reminder.task_id
    WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
        AND reminder.state = 'pending' AND task.device_id IS NOT NULL;
    WITH opened AS (
        INSERT INTO letsswitch.attendance (room_id, starts_at, closes_at, task_ids)
        SELECT task.room_id, task.starts_at, task.closes_at,
            ARRAY[least(task.id, task.partner_id), greatest(task.id, task.partner_id)]
        FROM letsswitch.reminder
        JOIN letsswitch.task ON task.id = reminder.task_id
        WHERE reminder.id > v_from AND reminder.id < v_until AND (p_only IS NULL OR reminder.id = p_only)
            AND task.partner_id IS NOT NULL AND task.closes_at > reminder.fired_at
        -- The partner's claim has opened it, or will find it open.
        ON CONFLICT (room_id) DO NOTHING
        RETURNING attendance.room_id, attendance.starts_at, attendance.closes_at, attendance.task_ids
    )
    INSERT INTO letsswitch.delivery
        (channel, event, message_id, data, room_id, created_at, next_try_at, deadline)
    SELECT 'webhook', happening.event, gen_random_uuid(), happening.data, happening.room_id, happening.at, happening.at,
        happening.at + letsswitch.event_patience()
    FROM opened
    CROSS JOIN LATERAL (VALUES
        (
            'room.opened',
            '{"roomId":"' || upper(opened.room_id::text COLLATE "C") || '","taskIds":["'
                || upper(array_to_string(opened.task_ids, '","') COLLATE "C") || '"],"startsAt":"'
                || letsswitch.instant_text(opened.starts_at) || '","closesAt":"'
                || letsswitch.instant_text(opened.closes_at) || '"}',
            NULL::uuid, letsswitch.clock()
        ),
        -- Two seconds for those who report who came and went.
        ('room.closed', NULL, opened.room_id, opened.closes_at + interval '2 seconds')
    ) AS happening (event, data, room_id, at);
END
$$;

-- The same, in the transaction of the claim, for the batch that it has just written. What can't be written must not keep a
-- reminder from its minute: then each is tried by itself.
CREATE FUNCTION letsswitch.write_claimed(p_channels text[]) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    -- Nobody else claims until this transaction ends.
    v_batch bigint := (SELECT last_value FROM letsswitch.batch);
    v_reminder uuid;
BEGIN
    BEGIN
        PERFORM letsswitch.write_deliveries(v_batch, NULL, p_channels);
        RETURN;
    EXCEPTION WHEN OTHERS THEN
        IF letsswitch.is_nobodys_fault(SQLSTATE) THEN
            RAISE;
        END IF;
        RAISE WARNING 'the deliveries of batch % can''t be written together: % (%)', v_batch, SQLERRM, SQLSTATE;
    END;
    FOR v_reminder IN
        SELECT reminder.id FROM letsswitch.reminder
        WHERE reminder.id > letsswitch.first_id(v_batch) AND reminder.id < letsswitch.first_id(v_batch + 1)
    LOOP
        BEGIN
            PERFORM letsswitch.write_deliveries(v_batch, v_reminder, p_channels);
        EXCEPTION WHEN OTHERS THEN
            IF letsswitch.is_nobodys_fault(SQLSTATE) THEN
                RAISE;
            END IF;
            RAISE WARNING 'the deliveries of reminder % can''t be written: % (%)', v_reminder, SQLERRM, SQLSTATE;
        END;
    END LOOP;
END
$$;

-- Claims, and writes what the couriers of these channels are to send.
CREATE FUNCTION letsswitch.claim_due(p_limit integer, p_channels text[]) RETURNS SETOF letsswitch.fired
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT * FROM letsswitch.claim_due(p_limit);
    IF FOUND THEN
        PERFORM letsswitch.write_claimed(p_channels);
    END IF;
END
$$;

CREATE FUNCTION letsswitch.claim_each(p_limit integer, p_channels text[]) RETURNS SETOF letsswitch.fired
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT * FROM letsswitch.claim_each(p_limit);
    IF FOUND THEN
        PERFORM letsswitch.write_claimed(p_channels);
    END IF;
END
$$;

-- An event for the webhook. p_device: whose person it tells of, or NULL.
CREATE FUNCTION letsswitch.write_event(p_event text, p_device text, p_data text) RETURNS void
LANGUAGE sql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    INSERT INTO letsswitch.delivery (channel, event, message_id, device_id, data, created_at, next_try_at, deadline)
    SELECT 'webhook', p_event, gen_random_uuid(), p_device, p_data, now.at, now.at, now.at + letsswitch.event_patience()
    FROM (SELECT letsswitch.clock() AS at) AS now
$$;

-- Registers, and writes what the webhook is told of it.
CREATE FUNCTION letsswitch.register_and_tell(
    p_device text, p_title text, p_zone text,
    p_starts_at bigint, p_midnight bigint, p_day integer, p_time integer,
    p_lead double precision, p_horizon double precision, p_room_duration double precision
) RETURNS letsswitch.task_outcome
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
DECLARE
    v_outcome letsswitch.task_outcome;
    v_partner uuid;
BEGIN
    v_outcome := letsswitch.register_task(
        p_device, p_title, p_zone, p_starts_at, p_midnight, p_day, p_time, p_lead, p_horizon, p_room_duration);
    IF v_outcome.code <> 'created' THEN
        RETURN v_outcome;
    END IF;
    PERFORM letsswitch.write_event(
        'task.registered', p_device,
        '{"taskId":"' || upper(v_outcome.id::text COLLATE "C") || '","title":' || to_json(v_outcome.title)::text
            || ',"startsAt":"' || letsswitch.instant_text(to_timestamp(v_outcome.starts_at))
            || '","startTime":"' || v_outcome.start_time || '","timeZone":' || to_json(v_outcome.time_zone)::text
            || ',"roomId":"' || upper(v_outcome.room_id::text COLLATE "C") || '"}');
    IF v_outcome.is_paired THEN
        SELECT task.partner_id INTO v_partner FROM letsswitch.task WHERE task.id = v_outcome.id;
        PERFORM letsswitch.write_event(
            'match.created', NULL,
            '{"roomId":"' || upper(v_outcome.room_id::text COLLATE "C")
                || '","taskIds":["' || upper(v_partner::text COLLATE "C")
                || '","' || upper(v_outcome.id::text COLLATE "C")
                || '"],"startsAt":"' || letsswitch.instant_text(to_timestamp(v_outcome.starts_at)) || '"}');
    END IF;
    RETURN v_outcome;
END
$$;

-- Cancels, and writes what the webhook is told of it.
CREATE FUNCTION letsswitch.cancel_and_tell(
    p_device text, p_id uuid, p_zone text,
    p_starts_at bigint, p_midnight bigint, p_day integer, p_time integer
) RETURNS letsswitch.task_outcome
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_outcome letsswitch.task_outcome;
BEGIN
    v_outcome := letsswitch.cancel_task(p_device, p_id, p_zone, p_starts_at, p_midnight, p_day, p_time);
    IF v_outcome.code = 'cancelled' THEN
        -- Nothing of the person.
        PERFORM letsswitch.write_event(
            'task.cancelled', NULL,
            '{"taskId":"' || upper(v_outcome.id::text COLLATE "C")
                || '","startsAt":"' || letsswitch.instant_text(to_timestamp(v_outcome.starts_at))
                || '","roomId":"' || upper(v_outcome.room_id::text COLLATE "C") || '"}');
    END IF;
    RETURN v_outcome;
END
$$;

-- Who came and who went, in their order: elements of these arrays that belong together. p_peers is how many there were in the
-- room afterwards; p_tasks the task that the peer gave, which counts if it is one of the room's; p_ages how many seconds ago.
CREATE FUNCTION letsswitch.report_peers(
    p_events text[], p_rooms uuid[], p_tasks uuid[], p_peers integer[], p_ages double precision[]
) RETURNS void
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
BEGIN
    PERFORM FROM letsswitch.attendance WHERE attendance.room_id = ANY (p_rooms) ORDER BY attendance.room_id FOR UPDATE;
    WITH seen AS (
        SELECT report.room, max(report.peers) AS peers, array_agg(DISTINCT report.task) AS tasks
        FROM unnest(p_rooms, p_tasks, p_peers) AS report (room, task, peers)
        GROUP BY report.room
    )
    UPDATE letsswitch.attendance SET
        most_peers = greatest(attendance.most_peers, seen.peers),
        came = ARRAY(
            SELECT own.id FROM unnest(attendance.task_ids) AS own (id)
            WHERE own.id = ANY (attendance.came) OR own.id = ANY (seen.tasks)
        )
    FROM seen WHERE attendance.room_id = seen.room;
    INSERT INTO letsswitch.delivery (channel, event, message_id, data, created_at, next_try_at, deadline)
    SELECT 'webhook', report.event, gen_random_uuid(),
        '{"roomId":"' || upper(report.room::text COLLATE "C") || '","peers":' || report.peers
            || CASE WHEN attendance.room_id IS NULL THEN ''
                ELSE ',"taskId":"' || upper(report.task::text COLLATE "C") || '"' END
            || '}',
        v_now - make_interval(secs => report.age), v_now, v_now + letsswitch.event_patience()
    FROM unnest(p_events, p_rooms, p_tasks, p_peers, p_ages) WITH ORDINALITY
        AS report (event, room, task, peers, age, place)
    LEFT JOIN letsswitch.attendance ON attendance.room_id = report.room AND report.task = ANY (attendance.task_ids)
    ORDER BY report.place;
END
$$;

-- Sending ----------------------------------------------------------------------------------------------------------

-- Takes what is due, reminders first and of each kind the longest due, for p_lease seconds: by then it is finished, or the lease renewed, or somebody
-- else takes it. `verdict` is `send`; or `expired`, its deadline was before (it is deleted then); or `orphaned`, there is nobody any more to send
-- it to. Instants are epoch seconds.
CREATE FUNCTION letsswitch.lease_deliveries(p_channel text, p_limit integer, p_lease double precision)
RETURNS TABLE (
    id bigint, verdict text, event text, message_id uuid, attempt integer, created_at double precision,
    deadline double precision, now double precision, address text, details text, registered_at double precision,
    payload text, task_id uuid, title text, partner_task text, start_time text, time_zone text, starts_at bigint,
    room_id uuid
)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_ids bigint[];
    v_late bigint[];
BEGIN
    WITH reminders AS (
        SELECT delivery.id, delivery.deadline FROM letsswitch.delivery
        WHERE delivery.channel = p_channel AND delivery.urgent AND delivery.next_try_at <= v_now
        ORDER BY delivery.next_try_at
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ),
    others AS (
        SELECT delivery.id, delivery.deadline FROM letsswitch.delivery
        WHERE delivery.channel = p_channel AND NOT delivery.urgent AND delivery.next_try_at <= v_now
        ORDER BY delivery.next_try_at
        LIMIT p_limit - (SELECT count(*) FROM reminders)
        FOR UPDATE SKIP LOCKED
    ),
    due AS (SELECT * FROM reminders UNION ALL SELECT * FROM others)
    SELECT
        array_agg(due.id) FILTER (WHERE due.deadline > v_now), array_agg(due.id) FILTER (WHERE due.deadline <= v_now)
    INTO v_ids, v_late FROM due;
    IF v_late IS NOT NULL THEN
        RETURN QUERY
        DELETE FROM letsswitch.delivery WHERE delivery.id = ANY (v_late)
        RETURNING delivery.id, 'expired', delivery.event, delivery.message_id, delivery.attempts,
            date_part('epoch', delivery.created_at), date_part('epoch', delivery.deadline), date_part('epoch', v_now),
            NULL::text, NULL::text, NULL::double precision, NULL::text, delivery.task_id, NULL::text, NULL::text,
            NULL::text, NULL::text, NULL::bigint, NULL::uuid;
    END IF;
    IF v_ids IS NULL THEN
        RETURN;
    END IF;
    UPDATE letsswitch.delivery
    SET next_try_at = v_now + make_interval(secs => p_lease), attempts = delivery.attempts + 1
    WHERE delivery.id = ANY (v_ids);
    RETURN QUERY
    SELECT
        delivery.id,
        CASE
            WHEN delivery.event = 'reminder' AND task.device_id IS NULL THEN 'orphaned'
            WHEN delivery.event = 'room.closed' AND attendance.room_id IS NULL THEN 'orphaned'
            WHEN delivery.address_id IS NOT NULL AND address.id IS NULL THEN 'orphaned'
            ELSE 'send'
        END,
        delivery.event, delivery.message_id, delivery.attempts, date_part('epoch', delivery.created_at),
        date_part('epoch', delivery.deadline), date_part('epoch', v_now),
        address.address, address.details, date_part('epoch', address.registered_at),
        CASE delivery.event
            WHEN 'reminder' THEN letsswitch.reminder_payload(
                delivery.message_id, task.id, task.title, task.starts_at, task.start_time, task.time_zone,
                CASE WHEN task.partner_id IS NOT NULL THEN task.room_id END, partner.title)
            WHEN 'room.closed' THEN '{"roomId":"' || upper(attendance.room_id::text COLLATE "C") || '","taskIds":["'
                || upper(array_to_string(attendance.task_ids, '","') COLLATE "C") || '"],"startsAt":"'
                || letsswitch.instant_text(attendance.starts_at) || '","came":['
                || coalesce('"' || nullif(upper(array_to_string(attendance.came, '","') COLLATE "C"), '') || '"', '')
                || '],"mostPeers":' || attendance.most_peers || '}'
            ELSE delivery.data
        END,
        delivery.task_id, task.title, partner.title, task.start_time, task.time_zone,
        date_part('epoch', task.starts_at)::bigint,
        CASE WHEN task.partner_id IS NOT NULL THEN task.room_id END
    FROM letsswitch.delivery
    LEFT JOIN letsswitch.task ON delivery.event = 'reminder' AND task.id = delivery.task_id
    LEFT JOIN letsswitch.task AS partner ON partner.id = task.partner_id
    -- One that belongs to another device by now gets nothing of this one's.
    LEFT JOIN letsswitch.address ON address.id = delivery.address_id AND address.device_id = task.device_id
    LEFT JOIN letsswitch.attendance ON attendance.room_id = delivery.room_id
    WHERE delivery.id = ANY (v_ids)
    ORDER BY delivery.id;
END
$$;

-- Keeps what is being sent: elements of the two arrays that belong together. What somebody else has taken meanwhile is theirs.
-- Returns what is kept.
CREATE FUNCTION letsswitch.renew_deliveries(p_ids bigint[], p_attempts integer[], p_lease double precision)
RETURNS TABLE (id bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_until timestamptz := letsswitch.clock() + make_interval(secs => p_lease);
BEGIN
    PERFORM FROM letsswitch.delivery WHERE delivery.id = ANY (p_ids) ORDER BY delivery.id FOR UPDATE;
    RETURN QUERY
    UPDATE letsswitch.delivery SET next_try_at = v_until
    FROM unnest(p_ids, p_attempts) AS held (id, attempt)
    WHERE delivery.id = held.id AND delivery.attempts = held.attempt
    RETURNING delivery.id;
END
$$;

-- What became of them. Returns the reminders that were delivered by it first.
--   p_accepted, p_dropped   it is done with; only what was accepted counts as delivered
--   p_gone                  the address too, unless it was registered anew since
--   p_again                 to be tried after p_delays seconds; its lease doesn't count as an attempt when p_begun is false
CREATE FUNCTION letsswitch.finish_deliveries(
    p_accepted bigint[], p_dropped bigint[], p_gone bigint[],
    p_again bigint[], p_attempts integer[], p_begun boolean[], p_delays double precision[]
) RETURNS TABLE (reminder_id uuid)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_reminders uuid[];
BEGIN
    -- Reminders before deliveries: so does whoever erases.
    SELECT array_agg(delivery.message_id) INTO v_reminders FROM letsswitch.delivery
    WHERE delivery.id = ANY (p_accepted) AND delivery.event = 'reminder';
    IF v_reminders IS NOT NULL THEN
        RETURN QUERY SELECT * FROM letsswitch.mark_delivered(v_reminders);
    END IF;
    PERFORM FROM letsswitch.delivery
    WHERE delivery.id = ANY (p_accepted || p_dropped || p_gone || p_again) ORDER BY delivery.id FOR UPDATE;
    DELETE FROM letsswitch.address USING letsswitch.delivery
    WHERE delivery.id = ANY (p_gone) AND address.id = delivery.address_id
        AND address.registered_at <= delivery.created_at;
    DELETE FROM letsswitch.delivery WHERE delivery.id = ANY (p_accepted || p_dropped || p_gone);
    UPDATE letsswitch.delivery SET
        next_try_at = v_now + make_interval(secs => again.delay),
        attempts = delivery.attempts - CASE WHEN again.begun THEN 0 ELSE 1 END
    FROM unnest(p_again, p_attempts, p_begun, p_delays) AS again (id, attempt, begun, delay)
    WHERE delivery.id = again.id AND delivery.attempts = again.attempt;
END
$$;

-- When a channel has something to send, and how much waits, counted to 10,000. Epoch seconds.
CREATE FUNCTION letsswitch.next_delivery(p_channel text, OUT due double precision, OUT now double precision, OUT waiting bigint)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
BEGIN
    due := extract(epoch FROM least(
        (SELECT min(delivery.next_try_at) FROM letsswitch.delivery
            WHERE delivery.channel = p_channel AND delivery.urgent),
        (SELECT min(delivery.next_try_at) FROM letsswitch.delivery
            WHERE delivery.channel = p_channel AND NOT delivery.urgent)));
    now := extract(epoch FROM letsswitch.clock());
    waiting := (SELECT count(*) FROM (
        SELECT FROM letsswitch.delivery WHERE delivery.channel = p_channel LIMIT 10000) AS counted);
END
$$;

-- Forgets ----------------------------------------------------------------------------------------------------------

-- Deletes a channel's deliveries but the p_keep newest of all; p_limit at a time. Returns how many.
CREATE FUNCTION letsswitch.drop_deliveries(p_channel text, p_keep bigint, p_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_last bigint;
    v_count bigint;
BEGIN
    SELECT delivery.id INTO v_last FROM letsswitch.delivery ORDER BY delivery.id DESC OFFSET p_keep LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    DELETE FROM letsswitch.delivery WHERE delivery.id = ANY (ARRAY(
        SELECT oldest.id FROM letsswitch.delivery AS oldest
        WHERE oldest.id <= v_last AND oldest.channel = p_channel
        ORDER BY oldest.id LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- What nobody sends: of channels that are no longer in use. And of rooms that closed more than a day ago, who came. Returns
-- how many deliveries it took: more may be left until that is 0.
CREATE FUNCTION letsswitch.purge_deliveries(p_limit integer) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
DECLARE
    v_now timestamptz := letsswitch.clock();
    v_count bigint;
BEGIN
    DELETE FROM letsswitch.delivery WHERE delivery.id = ANY (ARRAY(
        SELECT late.id FROM (VALUES ('apns'), ('webpush'), ('ntfy'), ('webhook')) AS channel (name)
        CROSS JOIN (VALUES (true), (false)) AS kind (urgent)
        CROSS JOIN LATERAL (
            SELECT old.id FROM letsswitch.delivery AS old
            WHERE old.channel = channel.name AND old.urgent = kind.urgent AND old.next_try_at < v_now - interval '1 hour' AND old.deadline <= v_now
            ORDER BY old.next_try_at LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ) AS late
    ));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    DELETE FROM letsswitch.attendance WHERE attendance.room_id = ANY (ARRAY(
        SELECT over.room_id FROM letsswitch.attendance AS over
        WHERE over.closes_at < v_now - interval '25 hours' ORDER BY over.closes_at LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ));
    RETURN v_count;
END
$$;

-- As before, but for the person's addresses, and what the webhook was to be told. A reminder's delivery goes when its turn
-- comes: nothing of the person is in it.
CREATE OR REPLACE FUNCTION letsswitch.erase_device(p_device text) RETURNS TABLE (starts_at bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    v_tasks uuid[];
    v_waiting uuid[];
BEGIN
    -- A claim of a partner's task, at this moment, would still read the title here and send it.
    PERFORM pg_advisory_xact_lock(19540::bigint << 48);
    SELECT array_agg(task.id) INTO v_tasks FROM letsswitch.task WHERE task.device_id = p_device;
    -- Whoever pairs or cancels one of these comes before or after, never between.
    SELECT array_agg(held.task_id) INTO v_waiting FROM (
        SELECT due.task_id FROM letsswitch.task
        JOIN letsswitch.due ON due.reminds_at = task.reminds_at AND due.registered = task.registered
        WHERE task.id = ANY (v_tasks)
        ORDER BY task.starts_at
        FOR UPDATE OF due
    ) AS held;
    -- Those who deliver or purge hold several as well.
    PERFORM FROM letsswitch.task
    JOIN letsswitch.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
    WHERE task.id = ANY (v_tasks)
    ORDER BY reminder.id
    FOR UPDATE OF reminder;
    v_now := letsswitch.clock();

    DELETE FROM letsswitch.address WHERE address.device_id = p_device;
    DELETE FROM letsswitch.delivery WHERE delivery.id = ANY (ARRAY(
        SELECT told.id FROM letsswitch.delivery AS told
        WHERE told.device_id = p_device
        ORDER BY told.id
        FOR UPDATE
    ));
    RETURN QUERY
    WITH anonymous AS (
        UPDATE letsswitch.task SET device_id = NULL, title = NULL
        WHERE task.id = ANY (v_tasks) AND task.partner_id IS NOT NULL AND task.closes_at > v_now
        RETURNING task.starts_at
    )
    SELECT extract(epoch FROM anonymous.starts_at)::bigint FROM anonymous;
    RETURN QUERY
    WITH gone AS (
        DELETE FROM letsswitch.task WHERE task.id = ANY (v_tasks) AND task.device_id IS NOT NULL
        RETURNING task.id, task.starts_at, task.reminds_at, task.registered, task.partner_id
    ),
    unclaimed AS (
        DELETE FROM letsswitch.due USING gone
        WHERE due.reminds_at = gone.reminds_at AND due.registered = gone.registered
    ),
    forgotten AS (
        DELETE FROM letsswitch.reminder USING gone
        WHERE reminder.starts_at = gone.starts_at AND reminder.task_id = gone.id
    )
    SELECT extract(epoch FROM gone.starts_at)::bigint FROM gone
    WHERE gone.partner_id IS NULL AND gone.id = ANY (v_waiting);
END
$$;
