/// The rows of a result. They are immutable, and any thread may read them.
package struct PostgresRows: RandomAccessCollection, Sendable {
    private let storage: ResultStorage
    /// The number of rows.
    package let count: Int

    init(_ storage: ResultStorage) {
        self.storage = storage
        self.count = storage.rowCount
    }

    /// The number of inserted, updated or deleted rows, if the statement returns no rows.
    package var affectedCount: Int { storage.affectedCount }

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    /// Returns a row. If the row doesn't exist, reading its columns throws.
    package subscript(index: Int) -> PostgresRow {
        PostgresRow(storage: storage, index: index)
    }
}

/// A row of a result. Columns are found by name. If a column is missing, is unexpectedly NULL or has another type,
/// reading it throws a `.decoding` error that names the column.
package struct PostgresRow: Sendable {
    private let storage: ResultStorage
    private let index: Int

    init(storage: ResultStorage, index: Int) {
        self.storage = storage
        self.index = index
    }

    package func isNull(_ column: String) throws -> Bool {
        try optionalString(column) == nil
    }

    package func string(_ column: String) throws -> String {
        try required(optionalString(column), column)
    }

    package func integer(_ column: String) throws -> Int {
        try required(optionalInteger(column), column)
    }

    package func double(_ column: String) throws -> Double {
        try required(optionalDouble(column), column)
    }

    package func boolean(_ column: String) throws -> Bool {
        try required(optionalBoolean(column), column)
    }

    /// Returns the text of a column of any type, in PostgreSQL's format.
    package func optionalString(_ column: String) throws -> String? {
        try withText(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with the bytes of the column's text, without making a string, and returns its result. Returns `nil`
    /// for NULL. The bytes are valid only while `body` runs.
    package func withText<Value>(_ column: String, _ body: (UnsafeRawBufferPointer) -> Value) throws -> Value? {
        guard index >= 0, index < storage.rowCount else {
            throw PostgresError(kind: .decoding, message: "row \(index) of \(storage.rowCount), column \(column)")
        }
        guard let position = storage.column(column) else {
            throw PostgresError(kind: .decoding, message: "no column \(column)")
        }
        return storage.withText(row: Int32(index), column: position, body)
    }

    package func optionalInteger(_ column: String) throws -> Int? {
        try optional(column, "an integer") { Int(String(decoding: $0, as: UTF8.self)) }
    }

    package func optionalDouble(_ column: String) throws -> Double? {
        try optional(column, "a number") { Double(String(decoding: $0, as: UTF8.self)) }
    }

    package func optionalBoolean(_ column: String) throws -> Bool? {
        try optional(column, "a boolean") { text in
            text.elementsEqual("t".utf8) ? true : text.elementsEqual("f".utf8) ? false : nil
        }
    }

    private func optional<Value>(
        _ column: String, _ type: String, _ read: (UnsafeRawBufferPointer) -> Value?
    ) throws -> Value? {
        guard let value = try withText(column, read) else { return nil }
        guard let value else { throw PostgresError(kind: .decoding, message: "column \(column) is not \(type)") }
        return value
    }

    private func required<Value>(_ value: Value?, _ column: String) throws -> Value {
        guard let value else { throw PostgresError(kind: .decoding, message: "column \(column) is NULL") }
        return value
    }
}
