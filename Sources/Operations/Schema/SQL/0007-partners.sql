-- Taking a promise back that somebody counts on.
ALTER TABLE letsswitch.task
    -- The partner took the promise back, or moved it.
    ADD COLUMN was_let_down boolean NOT NULL DEFAULT false,
    -- Let down after the lead: the room is open, and until then somebody may still come for a partner. NULL: has one, or waits as ever.
    ADD COLUMN waits_until timestamptz;

-- The end of a room that ends before its time.
CREATE INDEX event_room ON letsswitch.event (room_id) WHERE type = 'room.closed' AND number IS NULL;
