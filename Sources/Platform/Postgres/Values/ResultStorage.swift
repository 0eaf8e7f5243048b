import CLibpq
import Glibc

/// Owns a `PGresult`.
///
/// `@unchecked Sendable` holds because a result is read-only once libpq has handed it over and may then be passed freely
/// between threads (PostgreSQL 15 manual, 34.20), and nothing here changes it before `deinit`.
final class ResultStorage: @unchecked Sendable {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit {
        PQclear(result)
    }

    var rowCount: Int { Int(PQntuples(result)) }

    /// Rows inserted, updated, deleted or selected, as the command tag says.
    var affectedCount: Int {
        guard let digits = PQcmdTuples(result) else { return 0 }
        return Int(String(cString: digits)) ?? 0
    }

    /// O(columns), a comparison each: cheaper than a table for the dozen columns of a statement, and unlike `PQfnumber`
    /// without folding the case. The first letter tells most of them apart, without a call.
    func column(_ name: String) -> Int32? {
        name.withCString { wanted in
            (0..<PQnfields(result)).first { index in
                PQfname(result, index).map { $0[0] == wanted[0] && strcmp($0, wanted) == 0 } ?? false
            }
        }
    }

    /// What is made of the bytes of a field in text format; nil for NULL. `row` and `column` are in range.
    func withText<Value>(row: Int32, column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        guard PQgetisnull(result, row, column) == 0, let bytes = PQgetvalue(result, row, column) else { return nil }
        return body(UnsafeRawBufferPointer(start: bytes, count: Int(PQgetlength(result, row, column))))
    }
}
