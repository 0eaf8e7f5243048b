import Basics
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
        // Parsed without Foundation. Its `sscanf` took a seventh of the time to read the rows of a claim.
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

    /// Reads the second that contains an instant of ``PostgresStatement/microseconds(_:)``.
    package func instant(microseconds column: String) throws -> Instant {
        Instant(seconds: try integer(column).flooredQuotient(by: 1_000_000))
    }

    /// Reads epoch seconds with their fraction. The statement sends them by ``PostgresStatement/microseconds(_:)``.
    package func epoch(_ column: String) throws -> Double { Double(try integer(column)) / 1e6 }

    package func optionalEpoch(_ column: String) throws -> Double? {
        try optionalInteger(column).map { Double($0) / 1e6 }
    }
}

extension PostgresStatement {
    /// Returns columns that send instants as integers: epoch seconds with a fraction become whole microseconds. The
    /// column `due` becomes `due_us`.
    ///
    /// The text of a `double precision` loses digits if `extra_float_digits` is negative. The text of an integer
    /// doesn't depend on a setting.
    package static func microseconds(_ columns: String...) -> String {
        columns.map { "(\($0) * 1000000)::bigint AS \($0)_us" }.joined(separator: ", ")
    }
}
