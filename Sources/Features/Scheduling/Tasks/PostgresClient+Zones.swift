import Domain
import Postgres

extension PostgresClient {
    /// A statement that is given a zone of the request.
    func query(
        namingZone statement: PostgresStatement, _ parameters: [PostgresParameter]
    ) async throws -> PostgresRows {
        do {
            return try await query(statement, parameters, timeout: nil)
        } catch let error as PostgresError where error.kind == .server(sqlState: "22023") {
            // The names were read at start; since then an update of the zones has taken this one away.
            throw RequestError.invalid("timeZone", "must be an IANA name like Europe/London")
        }
    }
}
