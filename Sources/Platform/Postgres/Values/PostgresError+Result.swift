import CLibpq

extension PostgresError {
    /// The SQLSTATE of a write to a read-only database, such as a standby.
    static let readOnlyState = "25006"

    /// Creates the error that a result of libpq describes.
    init(result: OpaquePointer?) {
        let sqlState = Self.field("C", of: result)
        let message = Self.field("M", of: result) ?? Self.firstLine(PQresultErrorMessage(result))
        let severity = Self.field("V", of: result) ?? "ERROR"
        self.init(
            kind: Self.kind(sqlState: sqlState, severity: severity),
            message: message,
            constraint: Self.field("n", of: result))
    }

    /// Returns what a SQLSTATE means for callers (PostgreSQL 15 manual, appendix A).
    static func kind(sqlState: String?, severity: String) -> Kind {
        // FATAL and PANIC end the session. This may happen just after a commit, for example one that waits for a
        // standby. Without a SQLSTATE, the error comes from libpq: the connection is lost.
        guard let sqlState, severity != "FATAL", severity != "PANIC" else {
            return .unavailable(outcomeUnknown: true)
        }
        switch sqlState.prefix(2) {
        // These classes mean: out of disk, memory or connections; I/O errors; internal errors. PostgreSQL also reports
        // an internal error if a quota or limit prevents a file from growing.
        case "53", "58", "XX": return .refused(sqlState: sqlState)
        // The statement was cancelled, or the server is shutting down.
        case "57": return .unavailable(outcomeUnknown: false)
        // The transaction was rolled back because of another one: a serialization failure or a deadlock.
        case "40" where ["40001", "40P01"].contains(sqlState): return .conflict(sqlState: sqlState)
        // It is unknown whether the statement took effect.
        case "40" where sqlState == "40003": return .unavailable(outcomeUnknown: true)
        // The connection failed.
        case "08": return .unavailable(outcomeUnknown: true)
        // The database is read-only: it is a standby, or this is a temporary setting.
        case "25" where sqlState == readOnlyState: return .refused(sqlState: sqlState)
        default: return .server(sqlState: sqlState)
        }
    }

    /// Returns the first line of libpq's message about a lost connection. Further lines repeat the message for each
    /// address.
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
