-- Notifications of what is said to people who aren't there.

-- Who hears its conversations at present, by which daemon: it needs no notification. Rows of a daemon that has died don't count.
CREATE TABLE letsswitch.listener (
    user_id bigint NOT NULL,
    daemon_id uuid NOT NULL,
    PRIMARY KEY (user_id, daemon_id)
);
CREATE INDEX listener_daemon ON letsswitch.listener (daemon_id);

-- Until then everything said is told by the last notification; the next one goes a minute later at the earliest. NULL: there was none.
ALTER TABLE letsswitch.participant ADD COLUMN notified_at timestamptz;
-- The first message that the last one tells of.
ALTER TABLE letsswitch.participant ADD COLUMN notified_from bigint;

-- Of a notification of what was said: in which conversation, to whom, and from which message on. What is sent is read as it is sent.
ALTER TABLE letsswitch.delivery ADD COLUMN conversation_id uuid;
ALTER TABLE letsswitch.delivery ADD COLUMN user_id bigint;
ALTER TABLE letsswitch.delivery ADD COLUMN from_number bigint;
