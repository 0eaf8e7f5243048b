import Access
import Domain
import Observability
import Server
import Wire

/// Turns a route's error into an answer and a log line.
struct ErrorMapping: Sendable {
    let metrics: ProductMetrics
    let log: Log

    func abort(_ error: any Error) -> Abort {
        if let refusal = error as? IdentityRefusal { return Abort(refusal) }
        if let refusal = RequestError(answering: error) {
            if let quota = refusal.quota { metrics.quotas.add(quota) }
            return Abort(refusal)
        }
        log.error("request failed", ["error": .string("\(error)")])
        return Abort(RequestError.internalError)
    }
}

extension Abort {
    init(_ error: RequestError, headers: [HTTPField] = []) {
        self.init(
            HTTPStatus(code: error.status), code: error.code, reason: error.reason,
            headers: headers + (error.retryAfter.map { [HTTPField("Retry-After", String($0))] } ?? []))
    }

    /// Creates the answer to a refused identity. A 401 names the authentication scheme (RFC 9110 §15.5.2), in the form
    /// of RFC 6750 §3.
    init(_ refusal: IdentityRefusal) {
        let error = refusal.requestError
        let challenge = refusal.isAboutTicket ? #"Bearer error="invalid_token""# : "Bearer"
        self.init(error, headers: error.status == 401 ? [HTTPField("WWW-Authenticate", challenge)] : [])
    }
}
