-- For each conversation and each of a user's providers at most one notification waits. It covers all messages that are
-- unread when it is sent.

-- Of several that wait, the first covers the others' messages.
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

-- The last message of the notification that is being sent. NULL: it wasn't sent yet, or isn't of a conversation.
ALTER TABLE letsswitch.delivery ADD COLUMN told_number bigint;

-- The notification's text no longer depends on it.
ALTER TABLE letsswitch.participant DROP COLUMN notified_from;
