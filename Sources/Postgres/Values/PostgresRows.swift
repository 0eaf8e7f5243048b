/// The rows that a statement returned. Immutable; may be read from any thread.
package struct PostgresRows: RandomAccessCollection, Sendable {
    private let storage: ResultStorage
    /// The number of rows.
    package let count: Int

    init(_ storage: ResultStorage) {
        self.storage = storage
        self.count = storage.rowCount
    }

    /// Rows inserted, updated or deleted, where the statement returns none.
    package var affectedCount: Int { storage.affectedCount }

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    /// A row that isn't there is no crash: reading its columns throws.
    package subscript(index: Int) -> PostgresRow {
        PostgresRow(storage: storage, index: index)
    }
}
