-- The table of the operators' page. It is part of the first migration.

-- Measurements that daemons share for the operators' page. They may be lost, so they aren't logged.
CREATE UNLOGGED TABLE operations.daemon_sample (
    daemon_id uuid PRIMARY KEY,
    sample text NOT NULL,
    written_at timestamptz NOT NULL
)
WITH (fillfactor = 50);
