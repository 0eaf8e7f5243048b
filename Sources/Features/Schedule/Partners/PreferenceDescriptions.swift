import Domain
import Server
import Wire

/// The descriptions of the routes of preferences.
enum PreferenceDescriptions {
    static let prefer = RouteDescription(
        "Prefer a partner",
        details:
            """
            If several people wait for a start, the server matches you with a preferred partner first. The partner \
            isn't notified.
            """,
        body: .init(
            .object([.member("deviceId", .device), .member("taskId", .uuid)]),
            example: #"{"deviceId":"anna-7c1f","taskId":"4294EB43-D59F-4C87-BBC9-A4EFF1D431E2"}"#),
        answers: [
            .json(201, "The new preference.", preference), .json(200, "The preference exists already.", preference),
            .refusal(404, "no_such_task", meaning: "The device has no such task."),
            .refusal(409, "no_partner", meaning: "The task has no partner."),
            .refusal(429, "too_many_preferences", meaning: "The device has the maximum number of preferences."),
            .storageFull,
        ],
        example: "/preferences")

    static let preferences = RouteDescription(
        "List preferred partners, the latest first",
        parameters: [.device(.device), .optional("before", "The member next of the previous page.", .uuid)],
        answers: [
            .json(
                "At most 100 preferences.",
                .object([.member("preferences", .array(preference, most: 100)), .optional("next", .uuid)]))
        ], example: "'/preferences?deviceId=anna-7c1f'")

    static let remove = RouteDescription(
        "Remove a preference", parameters: [.path("id", "The preference.", .uuid), .device(.device)],
        answers: [
            .json("The preference is removed.", .emptyObject),
            .refusal(404, "no_such_preference", meaning: "The device has no such preference."),
        ])

    private static let preference = JSONSchema.shared(
        "Preference",
        .object([
            .member("id", .uuid), .member("title", .text()), .member("startsAt", .instant),
            .member("preferredAt", .instant),
        ]))
}
