-- Those that a user has left are looked through apart from those that it is inside of.
CREATE INDEX participant_left ON letsswitch.participant (user_id) WHERE left_number IS NOT NULL;

-- Groups that everybody has left go when purging looks next: it looks at these first.
UPDATE letsswitch.conversation SET look_at = '-infinity'
WHERE kind = 'group' AND NOT EXISTS (
    SELECT FROM letsswitch.participant AS own WHERE own.conversation_id = conversation.id AND own.left_number IS NULL
);
