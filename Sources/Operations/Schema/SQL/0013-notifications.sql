-- Notifications of messages, for users who aren't connected.

-- Users whose conversations are being received, and the daemon they are connected to. They need no notification. Rows
-- of a dead daemon don't count.
CREATE TABLE letsswitch.listener (
    user_id bigint NOT NULL,
    daemon_id uuid NOT NULL,
    PRIMARY KEY (user_id, daemon_id)
);
CREATE INDEX listener_daemon ON letsswitch.listener (daemon_id);

-- The last notification covers all messages until this time; the next one is sent a minute later at the earliest. NULL:
-- there was none.
ALTER TABLE letsswitch.participant ADD COLUMN notified_at timestamptz;
-- The first message of the last notification.
ALTER TABLE letsswitch.participant ADD COLUMN notified_from bigint;

-- For a notification of messages: the conversation, the receiver, and the first message. The text is read when it is
-- sent.
ALTER TABLE letsswitch.delivery ADD COLUMN conversation_id uuid;
ALTER TABLE letsswitch.delivery ADD COLUMN user_id bigint;
ALTER TABLE letsswitch.delivery ADD COLUMN from_number bigint;
