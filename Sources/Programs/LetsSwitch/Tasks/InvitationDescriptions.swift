import Domain
import Server
import Wire

/// The descriptions of the routes of invitations and preferences.
enum InvitationDescriptions {
    static let read = RouteDescription(
        "What one is invited to", parameters: [token],
        answers: [
            .json(
                "what the host has promised, and until when one may promise the same start",
                .object([
                    .member("title", .text()), .member("startTime", .text()), .member("timeZone", .zone),
                    .member("startsAt", .instant), .member("closesAt", .instant),
                ])),
            .refusal(404, "no_such_invitation", meaning: "there is none, or none any more"),
            .refusal(
                409, "invitation_used", "registration_closed", meaning: "somebody has come along, or it is too late"),
        ])

    static let accept = RouteDescription(
        "Promise the start that one is invited to",
        details: """
            The host is the partner, whoever else waits. What the device has promised for that start, and has no partner, becomes this \
            promise. A repeat is harmless.
            """,
        parameters: [token],
        body: .init(
            .object([.member("deviceId", .device), .member("title", .title), .optional("timeZone", .zone)]),
            example: #"{"deviceId":"carl-5a3e","title":"Maths"}"#),
        answers: [
            .json(201, "the task", TaskDescriptions.task),
            .json(200, "it was there already; maybe its title has changed", TaskDescriptions.task),
            .refusal(404, "no_such_invitation", meaning: "there is none, or none any more"),
            .refusal(
                409, "invitation_used", "own_invitation", "slot_taken", "registration_closed",
                meaning:
                    "somebody else has come along, it is one's own, the device has a partner then, or it is too late"),
            .refusal(429, "too_many_tasks", meaning: "the device has as many as it may"),
            .refusal(503, "storage_full", meaning: "as much is kept as may be"),
        ])

    static let prefer = RouteDescription(
        "Like to have a partner again",
        details: "Of several who wait for a start, such a one comes first. Nobody is told.",
        body: .init(
            .object([.member("deviceId", .device), .member("taskId", .uuid)]),
            example: #"{"deviceId":"anna-7c1f","taskId":"4294EB43-D59F-4C87-BBC9-A4EFF1D431E2"}"#),
        answers: [
            .json(201, "the preference", preference), .json(200, "it was there", preference),
            .refusal(404, "no_such_task", meaning: "there is none"),
            .refusal(409, "no_partner", meaning: "nobody is the partner, or nobody any more"),
            .refusal(429, "too_many_preferences", meaning: "the device prefers as many as it may"),
            .refusal(503, "storage_full", meaning: "as much is kept as may be"),
        ],
        example: "/preferences")

    static let preferences = RouteDescription(
        "Whom one would like to have again, the latest first",
        parameters: [.device(.device), .optional("before", "A list's next.", .uuid)],
        answers: [
            .json(
                "a hundred at most",
                .object([.member("preferences", .array(preference, most: 100)), .optional("next", .uuid)]))
        ], example: "'/preferences?deviceId=anna-7c1f'")

    static let forget = RouteDescription(
        "Undo a preference", parameters: [.path("id", "The preference.", .uuid), .device(.device)],
        answers: [.json("done", .nothingToSay), .refusal(404, "no_such_preference", meaning: "there is none")])

    private static let token = RouteDescription.Parameter.path(
        "token", "What the link ends in.", .text(pattern: "^[0-9a-f]{32}$"))

    private static let preference = JSONSchema.object([
        .member("id", .uuid), .member("title", .text()), .member("startsAt", .instant),
        .member("preferredAt", .instant),
    ])
}
