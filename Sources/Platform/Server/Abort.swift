package import Wire

/// An error that a handler throws to refuse a request. It has a status, a code for programs, and a sentence for people.
///
/// The body has Vapor's form with a code: `{"error": true, "code": "has_partner", "reason": "…"}`.
package struct Abort: Error, Sendable {
    package let status: HTTPStatus
    /// A code that programs compare, such as `no_such_task`.
    package let code: String
    /// A sentence for people.
    package let reason: String
    /// Further header fields of the response, such as `Retry-After`.
    package let headers: [HTTPField]
    /// Further JSON members of the body, after `reason`.
    package let details: [(name: String, value: String)]

    /// - Parameter code: The code for programs. `nil` uses the status's own phrase, such as `method_not_allowed`.
    package init(
        _ status: HTTPStatus, code: String? = nil, reason: String, headers: [HTTPField] = [],
        details: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.code = code ?? Self.code(for: status)
        self.reason = reason
        self.headers = headers
        self.details = details
    }

    private static func code(for status: HTTPStatus) -> String {
        let phrase = status.reasonPhrase.description.lowercased()
        return phrase.isEmpty ? "status_\(status.code)" : phrase.split(separator: " ").joined(separator: "_")
    }
}
