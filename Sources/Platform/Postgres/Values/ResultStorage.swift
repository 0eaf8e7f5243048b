import CLibpq
import Glibc

/// The owner of a `PGresult`.
///
/// `@unchecked Sendable` is safe because a result is read-only after libpq has returned it, and any thread may use it
/// (PostgreSQL 15 manual, 34.20). Nothing changes it before `deinit`.
final class ResultStorage: @unchecked Sendable {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    var rowCount: Int { Int(PQntuples(result)) }

    /// The number of inserted, updated, deleted or selected rows, from the command tag.
    var affectedCount: Int {
        guard let digits = PQcmdTuples(result) else { return 0 }
        return Int(String(cString: digits)) ?? 0
    }

    /// Returns the index of a column by its name. Compares the name with one column after the other. For the dozen
    /// columns of a statement this is faster than a hash table. Most columns differ in the first letter, which is
    /// compared without a call of `strcmp`. Unlike `PQfnumber`, this method doesn't fold the case.
    func column(_ name: String) -> Int32? {
        name.withCString { wanted in
            (0..<PQnfields(result)).first { index in
                PQfname(result, index).map { $0[0] == wanted[0] && strcmp($0, wanted) == 0 } ?? false
            }
        }
    }

    /// Calls `body` with the bytes of a text field, and returns its result. Returns `nil` for NULL. `row` and `column`
    /// must be in range.
    func withText<Value>(row: Int32, column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        guard PQgetisnull(result, row, column) == 0, let bytes = PQgetvalue(result, row, column) else { return nil }
        return body(UnsafeRawBufferPointer(start: bytes, count: Int(PQgetlength(result, row, column))))
    }
}
