-- Users whom a device doesn't want to meet, neither as a partner nor in conversations. The other user isn't notified.
CREATE TABLE letsswitch.block (
    id uuid PRIMARY KEY,
    device_id text NOT NULL,
    blocked_id text NOT NULL,
    -- As what it was blocked, which is what the list shows: by its name in conversations, or as the partner of a task.
    name text COLLATE "C",
    title text,
    starts_at timestamptz,
    blocked_at timestamptz NOT NULL,
    CONSTRAINT block_label CHECK ((name IS NULL) = (title IS NOT NULL AND starts_at IS NOT NULL))
);
-- From either side; and once in either way.
CREATE UNIQUE INDEX block_pair ON letsswitch.block (device_id, blocked_id, (name IS NULL));
CREATE INDEX block_blocked ON letsswitch.block (blocked_id, device_id);
CREATE INDEX block_list ON letsswitch.block (device_id, blocked_at, id);

INSERT INTO letsswitch.block (id, device_id, blocked_id, name, blocked_at)
SELECT gen_random_uuid(), own.device_id, other.device_id, other.name, letsswitch.clock()
FROM letsswitch.chat_block
JOIN letsswitch.chat_user AS own ON own.id = chat_block.user_id AND own.name IS NOT NULL
JOIN letsswitch.chat_user AS other ON other.id = chat_block.blocked_id AND other.name IS NOT NULL;
DROP TABLE letsswitch.chat_block;

-- The partner's task with whose person a task's person would like to talk; NULL: it hasn't asked.
ALTER TABLE letsswitch.task ADD COLUMN asked_id uuid;
