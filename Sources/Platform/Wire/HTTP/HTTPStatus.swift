/// The status of a response (RFC 9110 §15).
package struct HTTPStatus: Sendable, Hashable {
    /// The number of the status, from 100 to 999.
    package let code: Int

    /// Creates a status. A number that doesn't have three digits becomes 500.
    package init(code: Int) {
        self.code = (100...999).contains(code) ? code : 500
    }

    package static var switchingProtocols: HTTPStatus { HTTPStatus(code: 101) }
    package static var ok: HTTPStatus { HTTPStatus(code: 200) }
    package static var created: HTTPStatus { HTTPStatus(code: 201) }
    package static var accepted: HTTPStatus { HTTPStatus(code: 202) }
    package static var noContent: HTTPStatus { HTTPStatus(code: 204) }
    package static var seeOther: HTTPStatus { HTTPStatus(code: 303) }
    package static var notModified: HTTPStatus { HTTPStatus(code: 304) }
    package static var badRequest: HTTPStatus { HTTPStatus(code: 400) }
    package static var unauthorized: HTTPStatus { HTTPStatus(code: 401) }
    package static var forbidden: HTTPStatus { HTTPStatus(code: 403) }
    package static var notFound: HTTPStatus { HTTPStatus(code: 404) }
    package static var methodNotAllowed: HTTPStatus { HTTPStatus(code: 405) }
    package static var requestTimeout: HTTPStatus { HTTPStatus(code: 408) }
    package static var conflict: HTTPStatus { HTTPStatus(code: 409) }
    package static var gone: HTTPStatus { HTTPStatus(code: 410) }
    package static var unsupportedMediaType: HTTPStatus { HTTPStatus(code: 415) }
    package static var misdirectedRequest: HTTPStatus { HTTPStatus(code: 421) }
    package static var upgradeRequired: HTTPStatus { HTTPStatus(code: 426) }
    package static var tooManyRequests: HTTPStatus { HTTPStatus(code: 429) }
    package static var internalServerError: HTTPStatus { HTTPStatus(code: 500) }
    package static var badGateway: HTTPStatus { HTTPStatus(code: 502) }
    package static var serviceUnavailable: HTTPStatus { HTTPStatus(code: 503) }

    /// Whether the response has neither a body (RFC 9112 §6.3) nor framing fields (RFC 9110 §8.6).
    package var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

    /// The registered phrase. It is empty for a status that this server doesn't use.
    package var reasonPhrase: StaticString {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 303: "See Other"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}
