-- Messages for a RabbitMQ broker, for participants who use it.

-- That daemons carry messages there, and which of them does at present. One row at most.
CREATE TABLE letsswitch.bridge (
    name text PRIMARY KEY CHECK (name = 'amqp'),
    -- When a daemon with a broker last wrote it, to ten minutes.
    seen_at timestamptz NOT NULL,
    -- One daemon sends at a time, so that each conversation keeps its order. NULL: none does.
    sender_id uuid,
    lease_until timestamptz
);

-- The outbox: a row for each message that the broker is still to confirm, written in the message's transaction. What is sent is read
-- from the message.
CREATE TABLE letsswitch.bridge_message (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation_id uuid NOT NULL,
    number bigint NOT NULL,
    -- The participants when the message was sent. Ids instead of names, since an erased user has no name.
    user_ids bigint[] NOT NULL
);
