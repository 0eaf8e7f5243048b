-- Reactions of users to messages.
CREATE TABLE letsswitch.reaction (
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
CREATE INDEX reaction_user ON letsswitch.reaction (user_id);
