-- The tables of conversations: users, conversations, messages, blocks and the bridge to RabbitMQ. They are part of the
-- first migration.

-- Users ----------------------------------------------------------------------------------------------------------------

-- Users of conversations: devices with a name. A name never changes.
CREATE TABLE conversations.chat_user (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Names are compared by their bytes, because they are parts of routing keys. NULL: the device was erased.
    name text COLLATE "C" CONSTRAINT chat_user_name UNIQUE,
    -- NULL: the device and its messages were erased.
    device_id text,
    named_at timestamptz NOT NULL,
    -- When the user last connected or repeated the name, to about a day.
    used_at timestamptz NOT NULL DEFAULT now(),
    -- When the deletion of unused names last found the user in use, or when the name was taken. Only that deletion changes
    -- the column.
    checked_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX chat_user_device ON conversations.chat_user (device_id) WHERE name IS NOT NULL;
CREATE INDEX chat_user_erased ON conversations.chat_user (device_id) WHERE name IS NULL AND device_id IS NOT NULL;
CREATE INDEX chat_user_check ON conversations.chat_user (checked_at) WHERE name IS NOT NULL;

-- Digests of names that nobody can take any more.
CREATE TABLE conversations.retired_name (
    digest text PRIMARY KEY
);

-- Users who receive their conversations now, and the daemon they are connected to. They need no notifications. Rows of a
-- dead daemon don't count.
CREATE TABLE conversations.connected_user (
    user_id bigint NOT NULL,
    daemon_id uuid NOT NULL,
    PRIMARY KEY (user_id, daemon_id)
);
CREATE INDEX connected_user_daemon ON conversations.connected_user (daemon_id);

-- Conversations and messages -------------------------------------------------------------------------------------------

CREATE TABLE conversations.conversation (
    id uuid PRIMARY KEY,
    -- The conversation of two users, of which there is one, or a group.
    kind text NOT NULL CHECK (kind IN ('person', 'group')),
    -- The users for whom it was created, in order.
    members bigint[] NOT NULL,
    -- The number of the last message. It is incremented under the row's lock, so messages are numbered in the order of
    -- their commits and without gaps. A client that missed some resumes after the last number it received.
    last_number bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    -- When the last message was sent, or the conversation was created. It is in no index, so that messages write to none.
    used_at timestamptz NOT NULL,
    -- An earlier value of used_at: purging reads conversations in this order, and then brings the value up to date. Only
    -- purging changes it. -infinity: all participants have left the group, so the next purge deletes it.
    checked_at timestamptz NOT NULL,
    -- Distinguishes a conversation from an earlier one with the same id, so that an offset in one isn't used in the other.
    epoch text NOT NULL DEFAULT encode(substring(uuid_send(gen_random_uuid()) FROM 1 FOR 4), 'hex'),
    -- The user who created this group, while nobody else has written in it.
    unanswered_by bigint
)
WITH (fillfactor = 50);
CREATE UNIQUE INDEX conversation_pair ON conversations.conversation (members) WHERE kind = 'person';
CREATE INDEX conversation_members ON conversations.conversation (members, created_at) WHERE kind = 'group';
CREATE INDEX conversation_check ON conversations.conversation (checked_at);
CREATE INDEX conversation_unanswered ON conversations.conversation (unanswered_by, created_at) WHERE unanswered_by IS NOT NULL;

--   inside ──leaves──▶ left, with the messages up to then ──a message in the conversation of two──▶ inside
CREATE TABLE conversations.participant (
    conversation_id uuid NOT NULL,
    user_id bigint NOT NULL,
    -- The number of the last message when the user left. NULL: the user is in the conversation.
    left_number bigint,
    -- The number of the last message that the user has read.
    read_number bigint NOT NULL DEFAULT 0,
    is_muted boolean NOT NULL DEFAULT false,
    -- The last notification covers all messages until this time. The next one is sent a minute later at the earliest.
    -- NULL: there was none.
    notified_at timestamptz,
    -- The user who created the conversation, or whose message brought this user back into a conversation of two. NULL: this
    -- user created it, or has written in it since. A quota counts the conversations with NULL, so that other people can't
    -- use it up.
    invited_by bigint,
    PRIMARY KEY (conversation_id, user_id)
);

-- The conversations that a user is in, and those that the user has left. The planner uses these indexes only for a query
-- that states their expressions. A plain index of user_id, or one with the predicate left_number IS NULL, was also used
-- where only the primary key is right: before the first ANALYZE, the query for the names of one conversation then read the
-- whole table.
CREATE INDEX participant_inside ON conversations.participant ((CASE WHEN left_number IS NULL THEN user_id END), invited_by);
CREATE INDEX participant_left ON conversations.participant ((CASE WHEN left_number IS NOT NULL THEN user_id END));

CREATE TABLE conversations.message (
    conversation_id uuid NOT NULL,
    -- 1, 2, 3 … in its conversation. The interface calls it the offset.
    number bigint NOT NULL,
    id uuid NOT NULL CONSTRAINT message_id UNIQUE,
    -- NULL: the author was erased, and the content with it. The number stays.
    author_id bigint,
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
    user_id bigint NOT NULL,
    -- A single emoji, in the form in which it was sent: its bytes count.
    emoji text COLLATE "C" NOT NULL,
    reacted_at timestamptz NOT NULL,
    PRIMARY KEY (conversation_id, number, user_id, emoji)
);

-- For the erasure of a user.
CREATE INDEX reaction_user ON conversations.reaction (user_id);

-- The bridge to RabbitMQ -----------------------------------------------------------------------------------------------

-- Whether daemons publish messages to a broker, and the one that does so now. At most one row.
CREATE TABLE conversations.bridge (
    name text PRIMARY KEY CHECK (name = 'amqp'),
    -- When a daemon with a broker last wrote it, to ten minutes.
    seen_at timestamptz NOT NULL,
    -- The daemon that publishes. One daemon publishes at a time, so that each conversation keeps its order. NULL: none.
    sender_id uuid,
    lease_until timestamptz
);

-- The outbox: a row for each message that the broker still has to confirm, written in the message's transaction. The
-- content is read from the message when it is published.
CREATE TABLE conversations.bridge_message (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation_id uuid NOT NULL,
    number bigint NOT NULL,
    -- The participants when the message was sent. Ids instead of names, since an erased user has no name.
    user_ids bigint[] NOT NULL
);
