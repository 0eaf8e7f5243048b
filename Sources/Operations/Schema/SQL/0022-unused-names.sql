-- When forgetting looks next at who has a name: not before that can be too old. Moved on by forgetting alone.
ALTER TABLE letsswitch.chat_user ADD COLUMN look_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX chat_user_look ON letsswitch.chat_user (look_at) WHERE name IS NOT NULL;
