/// The settings of a new session. They are statements instead of the keyword `options`, which poolers refuse and an
/// operator may have set.
struct SessionSettings {
    /// The server's limit for a statement.
    let statementTimeout: Duration
    /// For a transaction that doesn't end, because its client vanished in the middle of a message.
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
        var script = """
            SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres';
            SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed';
            SET statement_timeout = \(Self.milliseconds(statementTimeout));

            """
        if let idleInTransactionTimeout {
            script += "SET idle_in_transaction_session_timeout = \(Self.milliseconds(idleInTransactionTimeout));\n"
        }
        for (name, value) in further { script += "SET \(name) = \(value);\n" }
        return script + Self.vigilance
    }

    /// Makes the server notice within half a second that a client has gone, and within 25 s that its machine has. Some
    /// releases (before PostgreSQL 14) and platforms don't support all of them. The other limits apply there.
    private static let vigilance = """
        DO $$
        DECLARE
            setting text[];
        BEGIN
            FOREACH setting SLICE 1 IN ARRAY ARRAY[
                ['client_connection_check_interval', '\(clientCheck)'], ['tcp_keepalives_idle', '10'],
                ['tcp_keepalives_interval', '5'], ['tcp_keepalives_count', '3'], ['tcp_user_timeout', '15000']]
            LOOP
                BEGIN
                    PERFORM set_config(setting[1], setting[2], false);
                EXCEPTION WHEN OTHERS THEN
                    NULL;
                END;
            END LOOP;
        END $$
        """

    /// Returns whole milliseconds within 32 bits, above 0, which would mean no limit.
    static func milliseconds(_ duration: Duration) -> Int {
        Int(min(max(duration / .milliseconds(1), 1), Double(Int32.max)))
    }
}
