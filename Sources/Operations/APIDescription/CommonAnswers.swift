import Server

extension RouteDescription {
    /// What any route may answer, whatever it does: what the server refuses before the route is asked, and what happens to it.
    static let common: [Answer] = [
        .refusal(
            400, "bad_request", "invalid_request", meaning: "the request can't be understood; reason says what"),
        .refusal(408, "request_timeout", meaning: "it didn't come whole in time"),
        .refusal(413, "content_too_large", meaning: "the body is too large"),
        .refusal(414, "uri_too_long", meaning: "the address is too long"),
        .refusal(417, "expectation_failed", meaning: "it expects what isn't known"),
        .refusal(421, "host_not_allowed", meaning: "the server doesn't go by that name"),
        .refusal(429, "too_many_requests", "too_many_connections", meaning: "more than an address may"),
        .refusal(431, "request_header_fields_too_large", meaning: "the head is too large"),
        .refusal(500, "internal_server_error", meaning: "a fault of the server's; its log has it"),
        .refusal(501, "not_implemented", meaning: "a transfer coding that isn't known"),
        .refusal(503, "database_unavailable", meaning: "come again after Retry-After"),
        .refusal(505, "http_version_not_supported", meaning: "neither HTTP/1.0 nor 1.1"),
    ]

    /// What the server refuses besides, by what a route is.
    static func ofEdge(_ route: DescribedRoute) -> [Answer] {
        var answers: [Answer] = []
        if route.method != "GET" {
            answers.append(.refusal(403, "origin_not_allowed", meaning: "a page of another server's"))
        }
        if route.registers {
            answers.append(
                .refusal(429, "too_many_registrations", meaning: "more new things in a day than an address may"))
        }
        return answers
    }
}
