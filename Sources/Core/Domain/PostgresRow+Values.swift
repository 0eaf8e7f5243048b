package import FoundationEssentials
import Postgres

extension PostgresRow {
    package func uuid(_ column: String) throws -> UUID {
        guard let uuid = try optionalUUID(column) else {
            throw PostgresError(kind: .decoding, message: "column \(column) is NULL")
        }
        return uuid
    }

    package func optionalUUID(_ column: String) throws -> UUID? {
        // Not by Foundation, which reads it with `sscanf`: of a claim's rows that was a seventh of the work.
        guard let uuid = try withText(column, { UUID(ascii: $0) }) else { return nil }
        guard let uuid else {
            throw PostgresError(kind: .decoding, message: "column \(column) is not a UUID")
        }
        return uuid
    }

    /// From whole epoch seconds.
    package func instant(_ column: String) throws -> Instant {
        Instant(seconds: try integer(column))
    }
}
