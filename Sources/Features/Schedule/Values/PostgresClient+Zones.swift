import Domain
import Postgres

extension PostgresClient {
    /// Runs a statement with a time zone from the request.
    func query(
        namingZone statement: PostgresStatement, _ parameters: [PostgresParameter]
    ) async throws -> PostgresRows {
        do {
            return try await query(statement, parameters, timeout: nil)
        } catch let error as PostgresError where error.kind == .server(sqlState: "22023") {
            // The names were read at start. Since then, an update of PostgreSQL's time zones has removed this one.
            throw RequestError.invalid("timeZone", "must be an IANA name like Europe/London")
        }
    }
}
