-- The number of stored rows, and the statistics for the planner.

-- Returns the approximate number of rows of a table. A table of up to 200 pages is counted. The size of a larger table
-- is estimated as the planner does: its number of pages, times the rows per page at the last vacuum. Before the first
-- vacuum, the rows per page are those of the first 200 pages.
CREATE FUNCTION core.stored(p_table regclass) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c_pages CONSTANT bigint := 200;
    v_pages bigint := pg_relation_size(p_table) / current_setting('block_size')::integer;
    v_count bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM %s WHERE ctid < ''(%s,0)''', p_table, least(v_pages, c_pages)) INTO v_count;
    IF v_pages <= c_pages THEN
        RETURN v_count;
    END IF;
    RETURN (
        SELECT v_pages * CASE
            WHEN pg_class.relpages > 0 AND pg_class.reltuples >= 0 THEN pg_class.reltuples / pg_class.relpages
            ELSE v_count::double precision / c_pages
        END
        FROM pg_catalog.pg_class WHERE pg_class.oid = p_table
    );
END
$$;

-- Collects planner statistics of the tables in these schemas whose size has more than doubled since the last
-- collection. PostgreSQL then makes new plans for them, also for a table that was empty when its plan was made.
-- Autovacuum would do it too late for a table that grows quickly. Tables with more than 10,000 pages (80 MB) at the
-- last collection are left to autovacuum. Returns the number of tables.
CREATE FUNCTION core.analyze_grown(p_schemas text[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    c_most_pages CONSTANT integer := 10000;
    v_page integer := current_setting('block_size')::integer;
    v_table record;
    v_count integer := 0;
BEGIN
    FOR v_table IN
        SELECT grown.oid::regclass AS name FROM pg_catalog.pg_class AS grown
        WHERE grown.relnamespace = ANY (p_schemas::regnamespace[]) AND grown.relkind = 'r' AND grown.relpages < c_most_pages
            AND pg_relation_size(grown.oid) / v_page > 2 * grown.relpages
        ORDER BY grown.oid
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) %s', v_table.name);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END
$$;
