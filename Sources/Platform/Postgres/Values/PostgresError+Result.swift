import CLibpq

extension PostgresError {
    /// SQLSTATE of a write to a read-only database, such as a standby.
    static let readOnlyState = "25006"

    /// The error in a result of libpq.
    init(result: OpaquePointer?) {
        let sqlState = Self.field("C", of: result)
        let message = Self.field("M", of: result) ?? Self.firstLine(PQresultErrorMessage(result))
        let severity = Self.field("V", of: result) ?? "ERROR"
        self.init(
            kind: Self.kind(sqlState: sqlState, severity: severity),
            message: message,
            constraint: Self.field("n", of: result))
    }

    /// Returns the meaning of a SQLSTATE for callers (PostgreSQL 15 manual, appendix A).
    static func kind(sqlState: String?, severity: String) -> Kind {
        // FATAL and PANIC end the session, perhaps just after a commit (such as one that waits for a standby). Without
        // a SQLSTATE the error is libpq's: the connection is lost.
        guard let sqlState, severity != "FATAL", severity != "PANIC" else {
            return .unavailable(outcomeUnknown: true)
        }
        switch sqlState.prefix(2) {
        // Out of disk, memory or connections; I/O errors; internal errors, including a file that may not grow (a quota
        // or limit, for which PostgreSQL has no code).
        case "53", "58", "XX": return .refused(sqlState: sqlState)
        // Cancelled, or shutting down.
        case "57": return .unavailable(outcomeUnknown: false)
        // The transaction was rolled back because of another one: serialization failure, deadlock.
        case "40" where ["40001", "40P01"].contains(sqlState): return .conflict(sqlState: sqlState)
        // The outcome is unknown.
        case "40" where sqlState == "40003": return .unavailable(outcomeUnknown: true)
        // Connection exceptions.
        case "08": return .unavailable(outcomeUnknown: true)
        // Read-only: a standby, or a temporary setting.
        case "25" where sqlState == readOnlyState: return .refused(sqlState: sqlState)
        default: return .server(sqlState: sqlState)
        }
    }

    /// Returns libpq's message about a lost connection: the first line. The others repeat it for each address.
    static func message(of connection: OpaquePointer?) -> String {
        firstLine(PQerrorMessage(connection))
    }

    private static func field(_ code: Unicode.Scalar, of result: OpaquePointer?) -> String? {
        PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
    }

    private static func firstLine(_ text: UnsafePointer<CChar>?) -> String {
        let message = text.map { String(cString: $0) } ?? ""
        return message.split(separator: "\n").first.map(String.init) ?? "no answer"
    }
}
