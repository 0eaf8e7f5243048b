package import Wire

extension RouteDescription.Parameter {
    /// The device of the caller, as a plain text parameter.
    package static func device(_ schema: JSONSchema) -> RouteDescription.Parameter {
        .query("deviceId", "The device. Write a plus sign as %2B, because + means a space in a query.", schema)
    }
}

extension RouteDescription {
    /// The errors of a server that requires tickets, or that receives an invalid one.
    package static let ticketRefusals = [
        Answer.refusal(
            401, "ticket_required", "bad_ticket", "ticket_expired",
            meaning: "The ticket is missing, invalid or expired."),
        Answer.refusal(403, "topic_not_allowed", meaning: "The ticket doesn't allow this."),
    ]

    /// A route that becomes a WebSocket, and its other responses.
    package static func socket(
        _ summary: String, details: String? = nil, parameters: [Parameter] = [], refusals: [Answer] = []
    ) -> RouteDescription {
        RouteDescription(
            summary, details: details, parameters: parameters,
            answers: [
                .nothing(101, "The connection becomes a WebSocket."),
                .refusal(403, "origin_not_allowed", meaning: "The page belongs to an origin that isn't allowed."),
                .refusal(426, "upgrade_required", meaning: "The request isn't a WebSocket handshake."),
            ] + refusals)
    }

    /// A stream of server-sent events.
    package static let eventStream = Answer.other("A stream that stays open.", "text/event-stream")
}

extension RouteDescription.Answer {
    /// The answer to a request that would exceed the limit of stored rows.
    package static let storageFull = refusal(
        503, "storage_full", meaning: "The server stores the maximum number of these entries. Try again later.")
}
