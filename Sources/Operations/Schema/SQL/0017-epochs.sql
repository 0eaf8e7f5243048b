-- Tells a conversation from another that had its id before: whoever knows an offset of the one isn't told it of the other.
ALTER TABLE letsswitch.conversation
    ADD COLUMN epoch text NOT NULL DEFAULT encode(substring(uuid_send(gen_random_uuid()) FROM 1 FOR 4), 'hex');
