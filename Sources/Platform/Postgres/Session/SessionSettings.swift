/// The settings of a new session, which statements set. The keyword `options` isn't used, because poolers refuse it and
/// an operator may have set it.
///
/// `ALTER ROLE … SET` and `ALTER DATABASE … SET` change the defaults of a session. This type therefore sets everything
/// that changes a result, the text of a value, or the life of a connection. Two settings remain the operator's choice:
/// `default_transaction_read_only` and `synchronous_commit`.
struct SessionSettings {
    /// The server's time limit for a statement.
    let statementTimeout: Duration
    /// The server's time limit for an idle transaction. A transaction doesn't end if its client is lost in the middle
    /// of a message. `nil` sets no limit.
    let idleInTransactionTimeout: Duration?
    /// The product's own settings, in the syntax of `SET`.
    private let further: [String: String]

    init(
        _ configuration: PostgresConfiguration, statementTimeout: Duration, idleInTransactionTimeout: Duration? = nil
    ) {
        self.statementTimeout = statementTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
        further = configuration.sessionSettings
    }

    /// The interval at which a busy server checks whether its client is still connected.
    private static let clientCheck = "500ms"

    var script: String {
        let limits = [
            ("statement_timeout", "\(Self.milliseconds(statementTimeout))"),
            ("idle_in_transaction_session_timeout", "\(idleInTransactionTimeout.map(Self.milliseconds) ?? 0)"),
        ]
        let settings = limits + Self.pinned + further.map { ($0.key, $0.value) }
        return settings.map { "SET \($0) = \($1);\n" }.joined() + Self.conditional
    }

    /// Settings that every supported release has and that every role may set.
    private static let pinned = [
        // A connection waits for a lock as long as the statement's limit permits. An error doesn't end the connection.
        ("lock_timeout", "0"), ("exit_on_error", "off"), ("client_min_messages", "warning"),
        // These settings determine the text of values. If `extra_float_digits` were 0 or less, digits of a `double
        // precision` would be cut off.
        ("extra_float_digits", "1"), ("TimeZone", "'UTC'"), ("DateStyle", "'ISO, MDY'"),
        ("IntervalStyle", "'postgres'"), ("bytea_output", "'hex'"),
        // These settings determine the meaning of statements. The server always searches `pg_catalog` before the path.
        ("search_path", "public"), ("standard_conforming_strings", "on"), ("array_nulls", "on"),
        ("transform_null_equals", "off"), ("timezone_abbreviations", "'Default'"), ("row_security", "on"),
        ("default_transaction_isolation", "'read committed'"), ("default_transaction_deferrable", "off"),
    ]

    /// Two lists of settings that some releases, platforms or roles don't have.
    ///
    /// - With the first list, the server notices within half a second that a client has disconnected, and within 25 s
    ///   that the client's machine has gone. The first list also removes limits of newer releases: for idle sessions
    ///   (since PostgreSQL 14) and long transactions (since 17). If a setting can't be set, it is left out, and the
    ///   other limits apply.
    /// - The second list has settings of superusers that turn off foreign keys or change the meaning of functions. If
    ///   such a setting has another value and the role isn't allowed to set it, the connection fails.
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

    /// Returns whole milliseconds that fit into 32 bits. The result is at least 1, because 0 would mean no limit.
    static func milliseconds(_ duration: Duration) -> Int {
        Int(min(max(duration / .milliseconds(1), 1), Double(Int32.max)))
    }
}
