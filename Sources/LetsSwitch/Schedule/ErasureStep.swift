package import Domain
import Postgres

/// What one statement did for a person who is to be erased.
package struct ErasureStep: Hashable, Sendable {
    /// Those that nobody can join any more, and those of partners, who no longer see a title.
    package let slots: [Instant]
    /// Whether rows may be left: gone for everybody, and still to be deleted.
    package let hasMore: Bool

    /// From the rows of `letsswitch.erase_device` or `letsswitch.erase_more`.
    init(_ rows: PostgresRows) throws {
        slots = try rows.filter { try !$0.isNull("starts_at") }.map { try $0.instant("starts_at") }
        hasMore = slots.count < rows.count
    }
}
