-- The tables of the outbox: addresses, providers, events and deliveries. Features write to them in their transactions, and
-- the feature Notifications sends. They are part of the first migration.

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
    -- When the address was registered or its device last registered a task, to about a day.
    used_at timestamptz NOT NULL,
    CONSTRAINT address_once UNIQUE (channel, address)
);
CREATE INDEX address_unused ON core.address (used_at);
CREATE INDEX address_device ON core.address (device_id, channel, registered_at);

-- The providers of reminders and events that a daemon has served within a day.
CREATE TABLE core.provider (
    name text PRIMARY KEY CHECK (name IN ('apns', 'webpush', 'ntfy', 'webhook')),
    -- Whether it receives every event, at an address from the settings. The other providers send reminders to people's
    -- addresses.
    subscribes boolean NOT NULL GENERATED ALWAYS AS (name = 'webhook') STORED,
    -- The number of starts of daemons that serve it.
    starts bigint NOT NULL DEFAULT 1,
    -- When a daemon last wrote that it serves the provider, to ten minutes.
    seen_at timestamptz NOT NULL,
    -- When the provider's server refused a daemon for good. Nothing is written for the provider until another daemon starts
    -- with it. NULL: in use.
    disabled_at timestamptz
);

-- Events that a subscriber still has to receive. An event is written in the transaction that makes it true.
CREATE SEQUENCE core.event_number;

CREATE TABLE core.event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Increases in the order of the events: it is taken while the lock that orders them is held. NULL: the event is
    -- written, but hasn't happened yet.
    number bigint DEFAULT nextval('core.event_number'),
    -- The name of the event, such as task.registered or room.closed.
    type text NOT NULL,
    happened_at timestamptz NOT NULL,
    -- The tag of the device. NULL if it is read from the tasks when the event is sent.
    person text,
    -- The task, or the match's two tasks.
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

-- Events with data to remove when a device is erased.
CREATE INDEX event_person ON core.event (person, id) WHERE title IS NOT NULL;

-- The event of a room's end, which moves if the room ends early.
CREATE INDEX event_room ON core.event (room_id) WHERE type = 'room.closed' AND number IS NULL;

-- What delivery workers have to send: one row per reminder and address, one per event and subscriber, and one per
-- notification and address. Written in the transaction of its cause.
--
--    waiting ──(lease)──▶ leased by a daemon ──▶ deleted      accepted, refused, address deleted, too late
--        ▲                        │
--        └──(next_try_at)─────────┘      retried, or the daemon died and the lease expired
CREATE TABLE core.delivery (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel text NOT NULL,
    -- Whether it is a reminder. Reminders are sent before everything else that is due, because they are useful for a
    -- minute only.
    urgent boolean NOT NULL,
    -- Receivers recognise a repetition by it. A reminder's deliveries have the reminder's id, whatever the address.
    message_id uuid NOT NULL,
    -- The task of a reminder, or of a notification that the partner has changed. The text is read from it when it is sent.
    task_id uuid,
    -- NULL: the channel has one address, which is a setting.
    address_id bigint,
    -- NULL: not an event.
    event_id bigint,
    -- For a notification of messages: the conversation, the receiver, and the first message. The text is read when it is
    -- sent.
    conversation_id uuid,
    user_id bigint,
    from_number bigint,
    -- The last message of the notification that is being sent. NULL: it wasn't sent yet, or isn't of a conversation.
    until_number bigint,
    created_at timestamptz NOT NULL,
    -- While the delivery is leased: when the lease ends.
    next_try_at timestamptz NOT NULL,
    -- The delivery isn't sent from this time on.
    deadline timestamptz NOT NULL,
    -- The number of leases, without those that failed for a reason unrelated to the delivery. The worker that holds the
    -- lease knows the number.
    attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX delivery_due ON core.delivery (channel, urgent, next_try_at);
CREATE INDEX delivery_event ON core.delivery (event_id) WHERE event_id IS NOT NULL;

-- For each conversation and each of a user's providers at most one notification waits. It covers all messages that are
-- unread when it is sent.
CREATE UNIQUE INDEX delivery_conversation ON core.delivery (conversation_id, user_id, channel, coalesce(address_id, 0))
    WHERE conversation_id IS NOT NULL;
