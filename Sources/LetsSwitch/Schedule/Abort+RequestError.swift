import Domain
import Server
import Wire

extension Abort {
    init(_ error: RequestError) {
        self.init(
            HTTPStatus(code: error.status), code: error.code, reason: error.reason,
            headers: error.retryAfter.map { [HTTPField("Retry-After", String($0))] } ?? [])
    }
}
