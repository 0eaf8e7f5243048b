-- The tables of conversations: users, conversations, messages, blocks and the bridge to RabbitMQ. They are part of the
-- first migration.

-- Users ---------------------------------------------------------------------------------------------------------------

-- The users of conversations: devices with a name. A name never changes.
CREATE TABLE conversations.chat_user (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Names are compared by their bytes, because they are parts of routing keys. NULL: the device was erased.
    name text COLLATE "C" CONSTRAINT chat_user_name UNIQUE,
    -- NULL: the device was erased, and its messages and reactions are deleted.
    device_id text,
    named_at timestamptz NOT NULL,
    -- When the user last connected or requested the name again, to about a day.
    used_at timestamptz NOT NULL DEFAULT now(),
    -- When the deletion of unused names last found that the user is active; at first, when the name was taken. Only
    -- that deletion changes the column.
    checked_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX chat_user_device ON conversations.chat_user (device_id) WHERE name IS NOT NULL;
CREATE INDEX chat_user_erased ON conversations.chat_user (device_id) WHERE name IS NULL AND device_id IS NOT NULL;
CREATE INDEX chat_user_check ON conversations.chat_user (checked_at) WHERE name IS NOT NULL;

-- The digests of names that no device can take any more.
CREATE TABLE conversations.retired_name (
    digest text PRIMARY KEY
);

-- The users who are connected, and the daemons they are connected to. They need no notifications. Rows of dead daemons
-- don't count.
CREATE TABLE conversations.connected_user (
    user_id bigint NOT NULL REFERENCES conversations.chat_user ON DELETE CASCADE,
    daemon_id uuid NOT NULL,
    PRIMARY KEY (user_id, daemon_id)
);
CREATE INDEX connected_user_daemon ON conversations.connected_user (daemon_id);

-- Conversations and messages ------------------------------------------------------------------------------------------

-- The conversations of two users, and groups.
CREATE TABLE conversations.conversation (
    id uuid PRIMARY KEY,
    -- 'person': the only conversation of two users. 'group': a conversation of three or more users.
    kind text NOT NULL CHECK (kind IN ('person', 'group')),
    -- The users for whom the conversation was created, in order of their ids. It doesn't change when users leave.
    members bigint[] NOT NULL,
    -- The number of the last message. It is incremented while the row is locked, so messages are numbered in the order
    -- of their commits and without gaps. A client that missed messages resumes after the last number it received.
    last_number bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    -- When the last message was sent; at first, when the conversation was created. No index has this column, so a
    -- message writes to no index of this table.
    used_at timestamptz NOT NULL,
    -- An earlier value of used_at, or -infinity if all participants have left the group. delete_old reads conversations
    -- in the order of this column. If a conversation is still in use, it sets the column to used_at. It deletes a group
    -- with -infinity.
    checked_at timestamptz NOT NULL,
    -- Differs from the epoch of an earlier conversation with the same id, so that an offset of one isn't used in the
    -- other.
    epoch text NOT NULL DEFAULT encode(substring(uuid_send(gen_random_uuid()) FROM 1 FOR 4), 'hex'),
    -- The user who created this group. NULL as soon as another user has written in it, and for a conversation of two.
    unanswered_by bigint
)
WITH (fillfactor = 50);
CREATE UNIQUE INDEX conversation_pair ON conversations.conversation (members) WHERE kind = 'person';
CREATE INDEX conversation_members ON conversations.conversation (members, created_at) WHERE kind = 'group';
CREATE INDEX conversation_check ON conversations.conversation (checked_at);
CREATE INDEX conversation_unanswered ON conversations.conversation (unanswered_by, created_at) WHERE unanswered_by IS NOT NULL;

-- A user's participation in a conversation.
--
--   inside ──leaves──▶ left: can read messages up to left_number ──new message in a conversation of two──▶ inside
CREATE TABLE conversations.participant (
    conversation_id uuid NOT NULL REFERENCES conversations.conversation ON DELETE CASCADE,
    -- No foreign key, because deleting a user would need one more index of this table. delete_users checks it.
    user_id bigint NOT NULL,
    -- The number of the last message when the user left. NULL: the user is in the conversation.
    left_number bigint,
    -- The number of the last message that the user has read.
    read_number bigint NOT NULL DEFAULT 0,
    is_muted boolean NOT NULL DEFAULT false,
    -- When the last notification was or is due. It covers all messages up to this time. The next notification is due a
    -- minute later at the earliest. NULL: there was no notification.
    notified_at timestamptz,
    -- The user who created the conversation, or whose message brought this user back into a conversation of two. NULL:
    -- this user created the conversation, or has written in it since. The quota counts only conversations with NULL, so
    -- that other users can't use up the quota.
    invited_by bigint,
    PRIMARY KEY (conversation_id, user_id)
);

-- These indexes find the conversations that a user is in, and those that the user has left. The planner uses them only
-- for queries with the same expressions. Before the first ANALYZE, it also used a plain index of user_id, or one with
-- the predicate left_number IS NULL, where only the primary key is right. The query for the names of one conversation
-- then read the whole table.
CREATE INDEX participant_inside ON conversations.participant ((CASE WHEN left_number IS NULL THEN user_id END), invited_by);
CREATE INDEX participant_left ON conversations.participant ((CASE WHEN left_number IS NOT NULL THEN user_id END));

-- The messages of conversations.
CREATE TABLE conversations.message (
    conversation_id uuid NOT NULL REFERENCES conversations.conversation ON DELETE CASCADE,
    -- 1, 2, 3 … in the conversation. In the interface it is called the offset.
    number bigint NOT NULL,
    id uuid NOT NULL CONSTRAINT message_id UNIQUE,
    -- NULL: the author was erased, and the content is deleted. The number stays.
    author_id bigint REFERENCES conversations.chat_user,
    content text,
    sent_at timestamptz NOT NULL,
    PRIMARY KEY (conversation_id, number)
);
CREATE INDEX message_author ON conversations.message (author_id) WHERE author_id IS NOT NULL;
CREATE INDEX message_past ON conversations.message (sent_at);

-- Reactions of users to messages.
CREATE TABLE conversations.reaction (
    conversation_id uuid NOT NULL,
    -- The message's number in the conversation.
    number bigint NOT NULL,
    user_id bigint NOT NULL REFERENCES conversations.chat_user ON DELETE CASCADE,
    -- A single emoji. It is stored and compared by its bytes, as it was sent.
    emoji text COLLATE "C" NOT NULL,
    reacted_at timestamptz NOT NULL,
    PRIMARY KEY (conversation_id, number, user_id, emoji),
    FOREIGN KEY (conversation_id, number) REFERENCES conversations.message ON DELETE CASCADE
);

-- Finds the reactions of a user who is being erased.
CREATE INDEX reaction_user ON conversations.reaction (user_id);

-- The bridge to RabbitMQ ----------------------------------------------------------------------------------------------

-- Whether daemons publish messages to a broker, and which daemon does now. The table has at most one row.
CREATE TABLE conversations.bridge (
    name text PRIMARY KEY CHECK (name = 'amqp'),
    -- When a daemon with a broker last wrote this row. It is written at most every ten minutes.
    seen_at timestamptz NOT NULL,
    -- The daemon that publishes messages. Only one daemon does at a time, so that each conversation keeps its order.
    -- NULL: none.
    sender_id uuid,
    lease_until timestamptz
);

-- The outbox of the bridge: one row per message that the broker hasn't confirmed yet, written in the transaction of the
-- message. The content is read from the message when it is published.
CREATE TABLE conversations.bridge_message (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation_id uuid NOT NULL,
    number bigint NOT NULL,
    -- The participants when the message was sent. They are stored by id, because an erased user has no name.
    user_ids bigint[] NOT NULL
);
