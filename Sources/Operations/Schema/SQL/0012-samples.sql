-- Measurements that daemons share for the operators' page. Their loss does no harm.
CREATE UNLOGGED TABLE letsswitch.daemon_sample (
    daemon_id uuid PRIMARY KEY,
    sample text NOT NULL,
    written_at timestamptz NOT NULL
)
WITH (fillfactor = 50);
