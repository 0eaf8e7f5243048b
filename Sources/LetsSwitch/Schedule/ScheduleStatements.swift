import Postgres

/// What `ScheduleStore` asks the database: a statement each, a transaction each.
enum ScheduleStatements {
    /// The names that metrics go by.
    static let names = [
        timeZoneNames, register, registerAndTell, cancel, cancelAndTell, day, registerToken, eraseDevice, purge,
    ].map(\.name)

    static let timeZoneNames = PostgresStatement(
        name: "time_zone_names", sql: "SELECT name FROM pg_catalog.pg_timezone_names")

    static let register = PostgresStatement(
        name: "register_task",
        sql: "SELECT * FROM letsswitch.register_task($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")

    static let cancel = PostgresStatement(
        name: "cancel_task", sql: "SELECT * FROM letsswitch.cancel_task($1, $2, $3, $4, $5, $6, $7)")

    /// The same, and the webhook is told.
    static let registerAndTell = PostgresStatement(
        name: "register_and_tell",
        sql: "SELECT * FROM letsswitch.register_and_tell($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")

    static let cancelAndTell = PostgresStatement(
        name: "cancel_and_tell", sql: "SELECT * FROM letsswitch.cancel_and_tell($1, $2, $3, $4, $5, $6, $7)")

    static let day = PostgresStatement(
        name: "day_schedule", sql: "SELECT * FROM letsswitch.day_schedule($1, $2, $3, $4, $5)")

    static let registerToken = PostgresStatement(
        name: "register_token", sql: "SELECT letsswitch.register_token($1, $2, $3)")

    static let eraseDevice = PostgresStatement(
        name: "erase_device", sql: "SELECT starts_at FROM letsswitch.erase_device($1)")

    static let purge = PostgresStatement(
        name: "purge", sql: "SELECT letsswitch.purge($1, $2) + letsswitch.purge_deliveries($2) AS taken")
}
