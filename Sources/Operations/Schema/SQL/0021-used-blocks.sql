-- When the block's owner was last known to use the server.
ALTER TABLE letsswitch.block ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX block_unused ON letsswitch.block (used_at);

-- When who has the name last began to listen, or took it; to about a day.
ALTER TABLE letsswitch.chat_user ADD COLUMN used_at timestamptz NOT NULL DEFAULT now();
