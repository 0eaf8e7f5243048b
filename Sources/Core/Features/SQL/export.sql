-- Returns the data of a device that features share: its addresses, blocks, waiting events, and records of its erasure.
CREATE FUNCTION core.export_device(p_device text) RETURNS TABLE (kind text, stored jsonb)
LANGUAGE sql STABLE AS $$
    SELECT 'device', jsonb_build_object('deviceId', p_device, 'exportedAt', core.clock())
    UNION ALL (
        SELECT 'addresses', to_jsonb(address) - 'device_id'
        FROM core.address WHERE address.device_id = p_device ORDER BY address.id)
    UNION ALL (
        SELECT 'events', to_jsonb(event)
        FROM core.event WHERE event.person = core.person_tag(p_device) AND event.title IS NOT NULL ORDER BY event.id)
    UNION ALL (
        SELECT 'blocks', to_jsonb(block) - 'device_id' - 'blocked_id'
        FROM core.block WHERE block.device_id = p_device ORDER BY block.blocked_at)
    UNION ALL (
        SELECT 'erasure', to_jsonb(erasure) - 'device_id' FROM core.erasure WHERE erasure.device_id = p_device)
    UNION ALL (
        SELECT 'erased', to_jsonb(erased)
        FROM core.erased WHERE erased.person = core.person_tag(p_device))
$$;
