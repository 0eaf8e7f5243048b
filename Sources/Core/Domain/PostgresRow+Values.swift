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
        // Parsed without Foundation, whose `sscanf` took a seventh of the time to read the rows of a claim.
        guard let uuid = try withText(column, { UUID(ascii: $0) }) else { return nil }
        guard let uuid else {
            throw PostgresError(kind: .decoding, message: "column \(column) is not a UUID")
        }
        return uuid
    }

    /// Reads whole epoch seconds.
    package func instant(_ column: String) throws -> Instant {
        Instant(seconds: try integer(column))
    }
}
