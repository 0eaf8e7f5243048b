-- Cancelling a matched task.
ALTER TABLE letsswitch.task
    -- The partner took the promise back, or moved it.
    ADD COLUMN was_let_down boolean NOT NULL DEFAULT false,
    -- The partner left after the lead: the room is open, and until this time another user may still become the partner.
    -- NULL: there is a partner, or the task waits as usual.
    ADD COLUMN waits_until timestamptz;

-- The end of a room that ends before its time.
CREATE INDEX event_room ON letsswitch.event (room_id) WHERE type = 'room.closed' AND number IS NULL;
