/// The settings of a new session. They are statements instead of the keyword `options`, which poolers refuse and an
/// operator may have set.
///
/// `ALTER ROLE … SET` and `ALTER DATABASE … SET` change the defaults of a session. Every setting that changes a result,
/// the text of a value, or the life of a connection is therefore set here. Two remain the operator's choice:
/// `default_transaction_read_only` and `synchronous_commit`.
struct SessionSettings {
    /// The server's limit for a statement.
    let statementTimeout: Duration
    /// For a transaction that doesn't end, because its client vanished in the middle of a message. `nil` sets no limit.
    let idleInTransactionTimeout: Duration?
    /// The product's settings, in the syntax of `SET`.
    private let further: [String: String]

    init(
        _ configuration: PostgresConfiguration, statementTimeout: Duration, idleInTransactionTimeout: Duration? = nil
    ) {
        self.statementTimeout = statementTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
        further = configuration.sessionSettings
    }

    /// How often a busy server checks whether its client is still connected.
    private static let clientCheck = "500ms"

    var script: String {
        let limits = [
            ("statement_timeout", "\(Self.milliseconds(statementTimeout))"),
            ("idle_in_transaction_session_timeout", "\(idleInTransactionTimeout.map(Self.milliseconds) ?? 0)"),
        ]
        let settings = limits + Self.pinned + further.map { ($0.key, $0.value) }
        return settings.map { "SET \($0) = \($1);\n" }.joined() + Self.conditional
    }

    /// Settings that every supported release has and every role may set.
    private static let pinned = [
        // A connection waits for a lock until the statement's limit, and outlives an error.
        ("lock_timeout", "0"), ("exit_on_error", "off"), ("client_min_messages", "warning"),
        // The text of values. With 0 or less, digits of a `double precision` are cut off.
        ("extra_float_digits", "1"), ("TimeZone", "'UTC'"), ("DateStyle", "'ISO, MDY'"),
        ("IntervalStyle", "'postgres'"), ("bytea_output", "'hex'"),
        // The meaning of statements. The server always searches `pg_catalog` before the path.
        ("search_path", "public"), ("standard_conforming_strings", "on"), ("array_nulls", "on"),
        ("transform_null_equals", "off"), ("timezone_abbreviations", "'Default'"), ("row_security", "on"),
        ("default_transaction_isolation", "'read committed'"), ("default_transaction_deferrable", "off"),
    ]

    /// Settings that some releases, platforms or roles don't have.
    ///
    /// - The first list makes the server notice within half a second that a client has gone, and within 25 s that its
    ///   machine has. It also removes limits of newer releases: idle sessions (since PostgreSQL 14) and long
    ///   transactions (since 17). Settings that can't be set are left out. The other limits apply then.
    /// - The second list has settings of superusers, which turn off foreign keys or change the meaning of functions.
    ///   The connection fails if such a setting has another value and the role may not set it.
    private static let conditional = """
        DO $$
        DECLARE
            setting text[];
        BEGIN
            FOREACH setting SLICE 1 IN ARRAY ARRAY[
                ['client_connection_check_interval', '\(clientCheck)'], ['tcp_keepalives_idle', '10'],
                ['tcp_keepalives_interval', '5'], ['tcp_keepalives_count', '3'], ['tcp_user_timeout', '15000'],
                ['idle_session_timeout', '0'], ['transaction_timeout', '0']]
            LOOP
                BEGIN
                    PERFORM set_config(setting[1], setting[2], false);
                EXCEPTION WHEN OTHERS THEN
                    NULL;
                END;
            END LOOP;
            FOREACH setting SLICE 1 IN ARRAY ARRAY[
                ['session_replication_role', 'origin'], ['plpgsql.variable_conflict', 'error']]
            LOOP
                IF current_setting(setting[1]) <> setting[2] THEN
                    PERFORM set_config(setting[1], setting[2], false);
                END IF;
            END LOOP;
        END $$
        """

    /// Returns whole milliseconds within 32 bits, above 0, which would mean no limit.
    static func milliseconds(_ duration: Duration) -> Int {
        Int(min(max(duration / .milliseconds(1), 1), Double(Int32.max)))
    }
}
