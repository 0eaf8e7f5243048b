-- Of each conversation one notification waits for each of a user's ways, whatever keeps it from going: it tells of all that is unread by then.

-- Of several that wait the first tells of what the others would have told of.
DELETE FROM letsswitch.delivery WHERE id IN (
    SELECT waiting.id FROM (
        SELECT
            delivery.id,
            row_number() OVER (
                PARTITION BY delivery.conversation_id, delivery.user_id, delivery.channel, delivery.address_id ORDER BY delivery.id
            ) AS place
        FROM letsswitch.delivery WHERE delivery.conversation_id IS NOT NULL
    ) AS waiting
    WHERE waiting.place > 1
);
CREATE UNIQUE INDEX delivery_way ON letsswitch.delivery (conversation_id, user_id, channel, coalesce(address_id, 0))
    WHERE conversation_id IS NOT NULL;

-- The last message that what is being sent tells of. NULL: it wasn't sent yet, or isn't of a conversation.
ALTER TABLE letsswitch.delivery ADD COLUMN told_number bigint;

-- What is told no longer hangs on it.
ALTER TABLE letsswitch.participant DROP COLUMN notified_from;
