package import Wire

extension RouteDescription.Parameter {
    /// The caller's device, as a plain text parameter.
    package static func device(_ schema: JSONSchema) -> RouteDescription.Parameter {
        .query("deviceId", "Whose it is.", schema)
    }
}

extension RouteDescription {
    /// The errors of a server that requires tickets, or receives one.
    package static let ticketRefusals = [
        Answer.refusal(401, "ticket_required", "bad_ticket", "ticket_expired", meaning: "no ticket that is valid"),
        Answer.refusal(403, "topic_not_allowed", meaning: "the ticket is not for this"),
    ]

    /// A route that becomes a WebSocket, and its other responses.
    package static func socket(
        _ summary: String, details: String? = nil, parameters: [Parameter] = [], refusals: [Answer] = []
    ) -> RouteDescription {
        RouteDescription(
            summary, details: details, parameters: parameters,
            answers: [
                .nothing(101, "it is a WebSocket"),
                .refusal(403, "origin_not_allowed", meaning: "a page of another server's"),
                .refusal(426, "upgrade_required", meaning: "the request asked for no WebSocket"),
            ] + refusals)
    }

    /// A stream of server-sent events.
    package static let eventStream = Answer.other("a stream that doesn't end", "text/event-stream")
}
