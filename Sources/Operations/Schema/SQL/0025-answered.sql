-- A quota counts the conversations that a user made or answered, so that other people can't use it up.

-- The user who made the conversation, or whose message brought this user back into a pair. NULL: this user made the conversation, or has
-- said something in it since. 0: the user who made it isn't known, because it was made before this column existed.
ALTER TABLE letsswitch.participant ADD COLUMN invited_by bigint;
SET LOCAL enable_seqscan = on;
SET LOCAL enable_hashjoin = on;
UPDATE letsswitch.participant SET invited_by = 0 WHERE NOT EXISTS (
    SELECT FROM letsswitch.message
    WHERE message.conversation_id = participant.conversation_id AND message.author_id = participant.user_id
);

-- The conversations that a user is in, and those that it has left. The planner uses these indexes only for a query that states their
-- expressions. It used an index of user_id, or one with the predicate left_number IS NULL, also where only the primary key is right: before
-- the first ANALYZE it then read the whole table for the names of one conversation.
DROP INDEX letsswitch.participant_user;
DROP INDEX letsswitch.participant_inside;
DROP INDEX letsswitch.participant_left;
CREATE INDEX participant_inside ON letsswitch.participant ((CASE WHEN left_number IS NULL THEN user_id END), invited_by);
CREATE INDEX participant_left ON letsswitch.participant ((CASE WHEN left_number IS NOT NULL THEN user_id END));

-- The user who made this group, while nobody else has said anything in it.
ALTER TABLE letsswitch.conversation ADD COLUMN unanswered_by bigint;
CREATE INDEX conversation_unanswered ON letsswitch.conversation (unanswered_by, created_at) WHERE unanswered_by IS NOT NULL;
