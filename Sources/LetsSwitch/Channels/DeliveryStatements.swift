import Postgres

/// What the channels ask the database: a statement each, a transaction each.
enum DeliveryStatements {
    /// The names that metrics go by.
    static let names = [
        startProvider, turnAway, lease, renew, finish, next, drop, clear,
        reportPeers, registerAddress, forgetAddress, addresses, keepSecret,
    ].map(\.name)

    static let startProvider = PostgresStatement(
        name: "start_provider", sql: "SELECT letsswitch.start_provider($1) AS start")

    static let turnAway = PostgresStatement(
        name: "turn_away_provider", sql: "SELECT letsswitch.turn_away_provider($1, $2) AS is_off")

    static let lease = PostgresStatement(
        name: "lease_deliveries", sql: "SELECT * FROM letsswitch.lease_deliveries($1, $2, $3, $4)")

    static let renew = PostgresStatement(
        name: "renew_deliveries",
        sql: "SELECT id FROM letsswitch.renew_deliveries($1::text[]::bigint[], $2::text[]::integer[], $3)")

    static let finish = PostgresStatement(
        name: "finish_deliveries",
        sql: """
            SELECT reminder_id FROM letsswitch.finish_deliveries(
                $1::text[]::bigint[], $2::text[]::bigint[], $3::text[]::bigint[], $4::text[]::bigint[],
                $5::text[]::integer[], $6::text[]::boolean[], $7::text[]::double precision[])
            """)

    static let next = PostgresStatement(name: "next_delivery", sql: "SELECT * FROM letsswitch.next_delivery($1)")

    static let drop = PostgresStatement(
        name: "drop_deliveries", sql: "SELECT letsswitch.drop_deliveries($1, $2, $3) AS dropped")

    static let clear = PostgresStatement(
        name: "clear_deliveries", sql: "SELECT letsswitch.clear_deliveries($1, $2) AS cleared")

    static let reportPeers = PostgresStatement(
        name: "report_peers",
        sql: """
            SELECT letsswitch.report_peers(
                $1, $2, $3::text[], $4::text[]::uuid[], $5::text[]::uuid[], $6::text[]::integer[],
                $7::text[]::double precision[])
            """)

    static let registerAddress = PostgresStatement(
        name: "register_address", sql: "SELECT letsswitch.register_address($1, $2, $3, $4, $5, $6) AS taken")

    static let forgetAddress = PostgresStatement(
        name: "forget_address", sql: "SELECT letsswitch.forget_address($1, $2, $3)")

    static let addresses = PostgresStatement(
        name: "addresses_of",
        sql: """
            SELECT address FROM letsswitch.address WHERE device_id = $1 AND channel = $2 ORDER BY registered_at, id
            """)

    static let keepSecret = PostgresStatement(
        name: "keep_secret", sql: "SELECT encode(letsswitch.keep_secret($1, decode($2, 'hex')), 'hex') AS value")
}
