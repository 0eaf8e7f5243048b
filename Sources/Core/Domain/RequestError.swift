package import Postgres
import Wire

/// The reason why a request is refused: a status, a code for programs, and a sentence for people.
package struct RequestError: Error, Hashable, Sendable {
    package let status: Int
    package let code: String
    package let reason: String
    /// The value of `Retry-After`, in seconds.
    package let retryAfter: Int?
    /// The exceeded quota, for metrics.
    package let quota: Quota?

    package init(
        status: Int, code: String, reason: String, retryAfter: Int? = nil, quota: Quota? = nil
    ) {
        self.status = status
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.quota = quota
    }

    /// `400 invalid_request`. The reason is "`field` `complaint`."
    package static func invalid(_ field: String, _ complaint: String) -> RequestError {
        invalid("\(field) \(complaint).")
    }

    package static func invalid(_ reason: String) -> RequestError {
        RequestError(status: 400, code: "invalid_request", reason: reason)
    }

    /// `503`: the database is unavailable, or was never available.
    package static let databaseUnavailable = RequestError(
        status: 503, code: "database_unavailable",
        reason: "The database is unavailable. Please try again in a moment.", retryAfter: 1)

    /// `503`: the database answers, but this daemon can't claim due reminders in it. The code equals that of
    /// ``databaseUnavailable``.
    package static let remindersUnavailable = RequestError(
        status: 503, code: "database_unavailable",
        reason: "This server can't send reminders at the moment, so it accepts no tasks. Please try again in a moment.",
        retryAfter: 1)

    /// Creates ``databaseUnavailable`` if the database is unavailable or lacks tables. Nil for other errors, which are
    /// faults of the server.
    package init?(_ error: PostgresError) {
        guard error.isUnavailable || error.lacksSchema else { return nil }
        self = .databaseUnavailable
    }

    /// Creates the error that a client receives, over any transport. Nil for faults of the server, which belong in the
    /// log.
    package init?(answering error: any Error) {
        if let refusal = error as? RequestError {
            self = refusal
        } else if let error = error as? PostgresError {
            if case .shutDown = error.kind {
                self = .databaseUnavailable
            } else if let refusal = RequestError(error) {
                self = refusal
            } else {
                return nil
            }
        } else {
            return nil
        }
    }

    /// `500`: an error of the server.
    package static let internalError = RequestError(
        status: 500, code: "internal_server_error",
        reason: "An internal error occurred. The server's log has the details.")

    /// `{"error":true,"code":…,"reason":…}`.
    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("error", true)
            object.member("code", code)
            object.member("reason", reason)
        }
        return json.bytes
    }
}

extension PostgresError {
    /// The schema, table or function doesn't exist.
    fileprivate var lacksSchema: Bool {
        guard case .server(let sqlState) = kind else { return false }
        return ["3F000", "42P01", "42883"].contains(sqlState)
    }
}
