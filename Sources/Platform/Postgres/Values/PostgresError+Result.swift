import CLibpq

extension PostgresError {
    /// SQLSTATE of a statement that would write where nothing may: in a standby, or what was made read-only for a while.
    static let readOnlyState = "25006"

    /// The error that a result of libpq reports.
    init(result: OpaquePointer?) {
        let sqlState = Self.field("C", of: result)
        let message = Self.field("M", of: result) ?? Self.firstLine(PQresultErrorMessage(result))
        let severity = Self.field("V", of: result) ?? "ERROR"
        self.init(
            kind: Self.kind(sqlState: sqlState, severity: severity),
            message: message,
            constraint: Self.field("n", of: result))
    }

    /// What a SQLSTATE means to a caller (PostgreSQL 15 manual, appendix A).
    static func kind(sqlState: String?, severity: String) -> Kind {
        // After FATAL and PANIC the session is over, and a commit may have happened just before (a commit that waits for
        // a standby is told so). Without a SQLSTATE it is libpq that speaks: the connection is lost.
        guard let sqlState, severity != "FATAL", severity != "PANIC" else {
            return .unavailable(outcomeUnknown: true)
        }
        switch sqlState.prefix(2) {
        // Out of disk, memory or connections; I/O errors; internal errors, among them a file that may not grow (a quota or
        // a limit: PostgreSQL has no code for those).
        case "53", "58", "XX": return .refused(sqlState: sqlState)
        // Cancelled, or shutting down.
        case "57": return .unavailable(outcomeUnknown: false)
        // The transaction was rolled back for another's sake: serialization failure, deadlock.
        case "40" where ["40001", "40P01"].contains(sqlState): return .conflict(sqlState: sqlState)
        // Nobody knows whether it was.
        case "40" where sqlState == "40003": return .unavailable(outcomeUnknown: true)
        // Connection exceptions.
        case "08": return .unavailable(outcomeUnknown: true)
        // Read-only: a standby, or made so for a while.
        case "25" where sqlState == readOnlyState: return .refused(sqlState: sqlState)
        default: return .server(sqlState: sqlState)
        }
    }

    /// libpq's last words about a connection: the first line says it, the others repeat it for each address.
    static func message(of connection: OpaquePointer?) -> String {
        firstLine(PQerrorMessage(connection))
    }

    private static func field(_ code: Unicode.Scalar, of result: OpaquePointer?) -> String? {
        PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
    }

    private static func firstLine(_ text: UnsafePointer<CChar>?) -> String {
        let words = text.map { String(cString: $0) } ?? ""
        return words.split(separator: "\n").first.map(String.init) ?? "no answer"
    }
}
