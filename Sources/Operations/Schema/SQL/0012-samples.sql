-- What daemons let each other know of how they are, for the page of operators. Nothing is lost with it.
CREATE UNLOGGED TABLE letsswitch.daemon_sample (
    daemon_id uuid PRIMARY KEY,
    sample text NOT NULL,
    written_at timestamptz NOT NULL
)
WITH (fillfactor = 50);
