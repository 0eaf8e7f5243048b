/// A statement that a connection prepares the first time it runs it, and then runs by name.
package struct PostgresStatement: Sendable, Hashable {
    /// Unique among the statements of a program: PostgreSQL knows the prepared statement by it. Observers and errors
    /// bear it. Empty for a statement that is parsed anew each time.
    package let name: String
    /// One statement, its parameters written `$1`, `$2`, …
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}
