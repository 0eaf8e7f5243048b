-- Returns the data of a device in conversations: its names, conversations, messages and reactions.
CREATE FUNCTION conversations.export_device(p_device text) RETURNS TABLE (kind text, stored jsonb)
LANGUAGE sql STABLE AS $$
    (
        SELECT 'names', to_jsonb(own) - 'device_id' - 'checked_at'
        FROM conversations.chat_user AS own WHERE own.device_id = p_device ORDER BY own.id)
    UNION ALL (
        SELECT
            'conversations',
            to_jsonb(conversation) - 'checked_at' - 'epoch' - 'unanswered_by'
                || (to_jsonb(participant) - 'conversation_id' - 'user_id' - 'invited_by')
        FROM conversations.chat_user AS own
        CROSS JOIN LATERAL (
            SELECT * FROM conversations.participant AS inside
            WHERE CASE WHEN inside.left_number IS NULL THEN inside.user_id END = own.id
            UNION ALL
            SELECT * FROM conversations.participant AS gone
            WHERE CASE WHEN gone.left_number IS NOT NULL THEN gone.user_id END = own.id
        ) AS participant
        JOIN conversations.conversation ON conversation.id = participant.conversation_id
        WHERE own.device_id = p_device)
    UNION ALL (
        SELECT 'messages', to_jsonb(message) - 'author_id'
        FROM conversations.chat_user AS own JOIN conversations.message ON message.author_id = own.id
        WHERE own.device_id = p_device ORDER BY message.sent_at)
    UNION ALL (
        SELECT 'reactions', to_jsonb(reaction) - 'user_id'
        FROM conversations.chat_user AS own JOIN conversations.reaction ON reaction.user_id = own.id
        WHERE own.device_id = p_device ORDER BY reaction.reacted_at)
$$;
