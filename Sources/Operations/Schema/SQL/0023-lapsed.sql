-- Of many whose guests haven't come, those are found whose lead is next.
CREATE INDEX task_lapsing ON letsswitch.task (reminds_at, invites_until) WHERE invites_until IS NOT NULL;
