-- Conversations and their messages.

-- Users of conversations: a device with a name, which never changes.
CREATE TABLE letsswitch.chat_user (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- A word of routing keys: its bytes count. NULL: the device was erased.
    name text COLLATE "C" CONSTRAINT chat_user_name UNIQUE,
    -- NULL: it was erased, and so was what it had said.
    device_id text,
    named_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX chat_user_device ON letsswitch.chat_user (device_id) WHERE name IS NOT NULL;
CREATE INDEX chat_user_erased ON letsswitch.chat_user (device_id) WHERE name IS NULL AND device_id IS NOT NULL;

-- Digests of names that can't be taken any more.
CREATE TABLE letsswitch.retired_name (
    digest text PRIMARY KEY
);

CREATE TABLE letsswitch.conversation (
    id uuid PRIMARY KEY,
    -- A pair's, of which there is one, or a group's.
    kind text NOT NULL CHECK (kind IN ('person', 'group')),
    -- The users for whom it was made, in order.
    members bigint[] NOT NULL,
    -- The number of its last message. Taken under the row's lock, so messages are numbered in the order of their
    -- commits, without gaps, and a client that missed some reads on from the last one it knows.
    last_number bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    -- When something was last said, or it was made. In no index: so it is written without touching one.
    used_at timestamptz NOT NULL,
    -- When purging looks at it next, not before it can be old enough. It may be behind used_at, and only purging
    -- changes it.
    look_at timestamptz NOT NULL
)
WITH (fillfactor = 50);
CREATE UNIQUE INDEX conversation_pair ON letsswitch.conversation (members) WHERE kind = 'person';
CREATE INDEX conversation_members ON letsswitch.conversation (members, created_at) WHERE kind = 'group';
CREATE INDEX conversation_look ON letsswitch.conversation (look_at);

--   inside ──leaves──▶ left, with what there was up to then ──a message in the pair──▶ inside
CREATE TABLE letsswitch.participant (
    conversation_id uuid NOT NULL,
    user_id bigint NOT NULL,
    -- The number of the last message that there was when it left. NULL: it is inside.
    left_number bigint,
    -- The number of the last message that it has read.
    read_number bigint NOT NULL DEFAULT 0,
    is_muted boolean NOT NULL DEFAULT false,
    PRIMARY KEY (conversation_id, user_id)
);
CREATE INDEX participant_user ON letsswitch.participant (user_id);
CREATE INDEX participant_inside ON letsswitch.participant (user_id) WHERE left_number IS NULL;

CREATE TABLE letsswitch.message (
    conversation_id uuid NOT NULL,
    -- 1, 2, 3 … in its conversation: the contract's offset.
    number bigint NOT NULL,
    id uuid NOT NULL CONSTRAINT message_id UNIQUE,
    -- NULL: the author was erased, and the content with it. The number stays.
    author_id bigint,
    content text,
    sent_at timestamptz NOT NULL,
    PRIMARY KEY (conversation_id, number)
);
CREATE INDEX message_author ON letsswitch.message (author_id) WHERE author_id IS NOT NULL;
CREATE INDEX message_past ON letsswitch.message (sent_at);

-- Authors whose messages a user has blocked.
CREATE TABLE letsswitch.chat_block (
    user_id bigint NOT NULL,
    blocked_id bigint NOT NULL,
    PRIMARY KEY (user_id, blocked_id)
);
CREATE INDEX chat_block_blocked ON letsswitch.chat_block (blocked_id);
