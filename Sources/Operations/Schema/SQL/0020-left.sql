-- Conversations that a user has left are searched apart from the current ones.
CREATE INDEX participant_left ON letsswitch.participant (user_id) WHERE left_number IS NOT NULL;

-- Groups that all participants have left are deleted at the next purge, which looks at these first.
UPDATE letsswitch.conversation SET look_at = '-infinity'
WHERE kind = 'group' AND NOT EXISTS (
    SELECT FROM letsswitch.participant AS own WHERE own.conversation_id = conversation.id AND own.left_number IS NULL
);
