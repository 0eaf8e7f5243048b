import Server

extension RouteDescription {
    /// Answers that any route can give: errors that the server finds before it calls the route, and failures of the
    /// server.
    static let common: [Answer] = [
        .refusal(
            400, "bad_request", "invalid_request", meaning: "The request is invalid. The member reason says why."),
        .refusal(408, "request_timeout", meaning: "The request didn't arrive completely in time."),
        .refusal(413, "content_too_large", meaning: "The body is too large."),
        .refusal(414, "uri_too_long", meaning: "The request's target is too long."),
        .refusal(417, "expectation_failed", meaning: "The header Expect has an unknown value."),
        .refusal(421, "host_not_allowed", meaning: "The header Host isn't one of the server's names."),
        .refusal(
            429, "too_many_requests", "too_many_connections",
            meaning: "The client's address has too many requests or connections."),
        .refusal(431, "request_header_fields_too_large", meaning: "The request's headers are too large."),
        .refusal(500, "internal_server_error", meaning: "The server failed. Its log has the details."),
        .refusal(501, "not_implemented", meaning: "The transfer coding is unknown."),
        .refusal(
            503, "database_unavailable",
            meaning: """
                The database is unavailable, or new tasks are refused because reminders are late. Try again after \
                Retry-After seconds.
                """),
        .refusal(505, "http_version_not_supported", meaning: "The version is neither HTTP/1.0 nor HTTP/1.1."),
    ]

    /// Errors that the server finds before it calls this route, in addition to ``common``.
    static func ofEdge(_ route: DescribedRoute) -> [Answer] {
        var answers: [Answer] = []
        if route.method != "GET" {
            answers.append(
                .refusal(403, "origin_not_allowed", meaning: "The page belongs to an origin that isn't allowed."))
        }
        if route.registers {
            answers.append(
                .refusal(
                    429, "too_many_registrations",
                    meaning: "The client's address has created the maximum number of new entries a day."))
        }
        return answers
    }
}
