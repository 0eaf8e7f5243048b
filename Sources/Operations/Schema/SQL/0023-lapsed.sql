-- Finds, of many lapsed invitations, those with the next lead.
CREATE INDEX task_lapsing ON letsswitch.task (reminds_at, invites_until) WHERE invites_until IS NOT NULL;
