-- Distinguishes a conversation from an earlier one with the same id, so that an offset in one isn't used in the other.
ALTER TABLE letsswitch.conversation
    ADD COLUMN epoch text NOT NULL DEFAULT encode(substring(uuid_send(gen_random_uuid()) FROM 1 FOR 4), 'hex');
