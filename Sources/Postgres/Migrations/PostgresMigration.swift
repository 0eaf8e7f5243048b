/// One numbered step of the schema. Once released it never changes.
package struct PostgresMigration: Sendable, Hashable {
    /// From 1 on, ascending.
    package let version: Int
    package let name: String
    /// One or more statements, run in one transaction.
    package let sql: String

    package init(version: Int, name: String, sql: String) {
        self.version = version
        self.name = name
        self.sql = sql
    }
}
