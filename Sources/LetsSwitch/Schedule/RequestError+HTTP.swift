import Server
import Wire

extension RequestError {
    /// `503`: the database is away, or was never there yet.
    static let databaseUnavailable = RequestError(
        status: 503, code: "database_unavailable",
        reason: "The database is away for a moment. Please try again.", retryAfter: 1)
}

extension Abort {
    init(_ error: RequestError) {
        self.init(
            HTTPStatus(code: error.status), code: error.code, reason: error.reason,
            headers: error.retryAfter.map { [HTTPField("Retry-After", String($0))] } ?? [])
    }
}
