/// What a new connection tells the server, by statements rather than the keyword `options`, which poolers refuse and an
/// operator may have set.
struct SessionSettings {
    /// The server's own limit for a statement.
    let statementTimeout: Duration
    /// For a transaction whose end doesn't come: half a message is on the way from a client that has vanished.
    let idleInTransactionTimeout: Duration?
    /// The product's, as `SET` takes them.
    private let further: [String: String]

    init(
        _ configuration: PostgresConfiguration, statementTimeout: Duration, idleInTransactionTimeout: Duration? = nil
    ) {
        self.statementTimeout = statementTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
        further = configuration.sessionSettings
    }

    /// How often a server that is busy looks whether its client is still there.
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

    /// The server notices within half a second that a client has gone, and within 25 s that its machine has. Not every release
    /// (the check is PostgreSQL 14's) and not every platform takes all of them: without, the other limits must do.
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

    /// As PostgreSQL takes it: whole, above 0, which means none, and within 32 bits.
    static func milliseconds(_ duration: Duration) -> Int {
        Int(min(max(duration / .milliseconds(1), 1), Double(Int32.max)))
    }
}
