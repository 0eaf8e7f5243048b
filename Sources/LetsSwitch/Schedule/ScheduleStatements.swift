import Postgres

/// What `ScheduleStore` asks the database: a statement each, a transaction each.
enum ScheduleStatements {
    /// The names that metrics go by.
    static let names = [
        timeZoneNames, register, cancel, day, registerToken, eraseDevice, eraseMore, purge,
    ].map(\.name)

    static let timeZoneNames = PostgresStatement(
        name: "time_zone_names", sql: "SELECT name FROM letsswitch.zone_names() AS name")

    static let register = PostgresStatement(
        name: "register_task",
        sql: "SELECT * FROM letsswitch.register_task($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)")

    static let cancel = PostgresStatement(
        name: "cancel_task", sql: "SELECT * FROM letsswitch.cancel_task($1, $2, $3, $4, $5, $6, $7)")

    static let day = PostgresStatement(
        name: "day_schedule", sql: "SELECT * FROM letsswitch.day_schedule($1, $2, $3, $4, $5)")

    static let registerToken = PostgresStatement(
        name: "register_token", sql: "SELECT letsswitch.register_token($1, $2, $3, $4) AS taken")

    static let eraseDevice = PostgresStatement(
        name: "erase_device", sql: "SELECT starts_at FROM letsswitch.erase_device($1)")

    static let eraseMore = PostgresStatement(name: "erase_more", sql: "SELECT starts_at FROM letsswitch.erase_more($1)")

    static let purge = PostgresStatement(
        name: "purge",
        sql: """
            SELECT letsswitch.purge($1, $2) + letsswitch.purge_deliveries($2) + letsswitch.purge_events($1, $2)
                AS taken
            """)
}
