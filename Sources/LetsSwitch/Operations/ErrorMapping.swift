import Domain
import Observability
import Postgres
import Server
import Wire

/// What a route's error is to who asked, and to the log.
struct ErrorMapping: Sendable {
    let metrics: ProductMetrics
    let log: Log

    func abort(_ error: any Error) -> Abort {
        if let error = error as? RequestError {
            if let quota = error.quota { metrics.quotas.add(quota) }
            return Abort(error)
        }
        if let error = error as? PostgresError {
            if let refusal = RequestError(error) { return Abort(refusal) }
            if case .shutDown = error.kind { return Abort(.databaseUnavailable) }
        }
        log.error("request failed", ["error": .string("\(error)")])
        return Abort(.internalServerError, reason: "Something went wrong here; the log knows what.")
    }
}

extension Abort {
    init(_ error: RequestError) {
        self.init(
            HTTPStatus(code: error.status), code: error.code, reason: error.reason,
            headers: error.retryAfter.map { [HTTPField("Retry-After", String($0))] } ?? [])
    }
}
