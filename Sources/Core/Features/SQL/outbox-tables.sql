-- The tables of the outbox: addresses, providers, events and deliveries. They are part of the first migration. Features
-- write to them in their transactions, and the feature Notifications sends.

-- Where a device receives reminders: a push token, a browser's subscription, or a topic.
CREATE TABLE core.address (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device_id text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('apns', 'webpush', 'ntfy')),
    -- The address in the channel's own form. The limit keeps index entries possible.
    address text NOT NULL CHECK (octet_length(address) <= 2048),
    -- Further data for the provider: a JSON object.
    details text NOT NULL,
    registered_at timestamptz NOT NULL,
    -- When the address was registered, or when its device last used the schedule, to about a day.
    used_at timestamptz NOT NULL,
    CONSTRAINT address_once UNIQUE (channel, address)
);
CREATE INDEX address_unused ON core.address (used_at);
CREATE INDEX address_device ON core.address (device_id, channel, registered_at);

-- The providers of reminders and events that a daemon has served within a day.
CREATE TABLE core.provider (
    name text PRIMARY KEY CHECK (name IN ('apns', 'webpush', 'ntfy', 'webhook')),
    -- Whether the provider receives every event, at an address from the settings. The other providers send reminders to
    -- the addresses of devices.
    subscribes boolean NOT NULL GENERATED ALWAYS AS (name = 'webhook') STORED,
    -- How often daemons have started with this provider.
    starts bigint NOT NULL DEFAULT 1,
    -- When a daemon last recorded that it serves the provider. It is written at most every ten minutes.
    seen_at timestamptz NOT NULL,
    -- When the provider's server permanently refused a daemon. No deliveries are written for the provider until a
    -- daemon starts with it again. NULL: the provider is in use.
    disabled_at timestamptz
);

-- The numbers of events.
CREATE SEQUENCE core.event_number;

-- Events that a subscriber still has to receive. An event is written in the transaction that makes it true.
CREATE TABLE core.event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The event's place in the order of events. It is taken while the transaction holds the lock that orders the
    -- events. NULL: the event is written, but hasn't happened yet.
    number bigint DEFAULT nextval('core.event_number'),
    -- The name of the event, such as task.registered or room.closed.
    type text NOT NULL,
    happened_at timestamptz NOT NULL,
    -- The tag of the device. NULL: no device, or the tag is computed from the tasks when the event is sent.
    person text,
    -- The task, or the two tasks of the match.
    task_ids uuid[],
    reminder_id uuid,
    room_id uuid,
    starts_at timestamptz,
    closes_at timestamptz,
    -- The number of members in the room after the event.
    peers integer,
    -- Personal data, removed when the device is erased.
    title text,
    start_time text,
    time_zone text
);

-- Finds the events whose data is removed when a device is erased.
CREATE INDEX event_person ON core.event (person, id) WHERE title IS NOT NULL;

-- Finds the event of a room's end, which is rescheduled if the room ends early.
CREATE INDEX event_room ON core.event (room_id) WHERE type = 'room.closed' AND number IS NULL;

-- The messages that the delivery workers have to send: one row per reminder and address, per event and subscriber, and
-- per notification and address. A row is written in the transaction that causes it.
--
--    waiting ──(lease)──▶ leased by a daemon ──▶ deleted      accepted, refused, address deleted, too late
--        ▲                        │
--        └──(next_try_at)─────────┘      to be retried, or the daemon died and the lease expired
CREATE TABLE core.delivery (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel text NOT NULL,
    -- Whether the row is a reminder. Reminders are sent before all other deliveries that are due, because they are
    -- useful for a minute only.
    urgent boolean NOT NULL,
    -- Receivers recognise a repeated message by this id. All deliveries of a reminder have the reminder's id, for each
    -- address.
    message_id uuid NOT NULL,
    -- The task of a reminder, or of a notification that the partner has changed. The text is read from the task when it
    -- is sent.
    task_id uuid,
    -- NULL: the channel has a single address, which is a setting.
    address_id bigint,
    -- NULL: the delivery isn't an event.
    event_id bigint REFERENCES core.event ON DELETE CASCADE,
    -- For a notification of new messages: the conversation, the receiving user, and the number of the first message.
    -- The text is read from the messages when it is sent.
    conversation_id uuid,
    user_id bigint,
    from_number bigint,
    -- The number of the last message in the notification that is being sent. NULL: the notification hasn't been sent
    -- yet, or the delivery isn't about a conversation.
    until_number bigint,
    created_at timestamptz NOT NULL,
    -- When the delivery is next tried. While it is leased: when the lease ends.
    next_try_at timestamptz NOT NULL,
    -- When the delivery becomes useless. It isn't sent from this time on.
    deadline timestamptz NOT NULL,
    -- The number of leases, without those that failed for a reason unrelated to the delivery. The worker that leases
    -- the delivery remembers this number. It doesn't renew or postpone a delivery that was leased again since then.
    attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX delivery_due ON core.delivery (channel, urgent, next_try_at);
CREATE INDEX delivery_event ON core.delivery (event_id) WHERE event_id IS NOT NULL;

-- For each conversation, user, channel and address at most one notification waits. It covers all messages that are
-- unread when it is sent.
CREATE UNIQUE INDEX delivery_conversation ON core.delivery (conversation_id, user_id, channel, coalesce(address_id, 0))
    WHERE conversation_id IS NOT NULL;
