import Domain
import Server
import Wire

/// The descriptions of the routes of invitations and preferences.
enum InvitationDescriptions {
    static let read = RouteDescription(
        "Read an invitation", parameters: [token],
        answers: [
            .json(
                "The host's task, and the time until which a guest can accept.",
                .object([
                    .member("title", .text()), .member("startTime", .text()), .member("timeZone", .zone),
                    .member("startsAt", .instant), .member("closesAt", .instant),
                ])),
            .refusal(404, "no_such_invitation", meaning: "There is no such invitation, or it has ended."),
            .refusal(
                409, "invitation_used", "registration_closed",
                meaning: "Another guest has accepted, or the time for registration has passed."),
        ])

    static let accept = RouteDescription(
        "Accept an invitation",
        details: """
            The host becomes the partner, even if others wait for that start. If the device has a task at that start \
            without a partner, that task gets the new title and the partner. A repeated request returns the same task.
            """,
        parameters: [token],
        body: .init(
            .object([.member("deviceId", .device), .member("title", .title), .optional("timeZone", .zone)]),
            example: #"{"deviceId":"carl-5a3e","title":"Maths"}"#),
        answers: [
            .json(201, "The new task.", TaskDescriptions.task),
            .json(200, "The task exists already. Its title may have changed.", TaskDescriptions.task),
            .refusal(404, "no_such_invitation", meaning: "There is no such invitation, or it has ended."),
            .refusal(
                409, "invitation_used", "own_invitation", "slot_taken", "registration_closed",
                meaning:
                    """
                    Another guest has accepted, the invitation is your own, your task at that start has a partner, \
                    or the time for registration has passed.
                    """
            ),
            .refusal(429, "too_many_tasks", meaning: "The device has the maximum number of tasks."),
            .storageFull,
        ])

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

    private static let token = RouteDescription.Parameter.path(
        "token", "The last part of the invitation's link.", .text(pattern: "^[0-9a-f]{32}$"))

    private static let preference = JSONSchema.shared(
        "Preference",
        .object([
            .member("id", .uuid), .member("title", .text()), .member("startsAt", .instant),
            .member("preferredAt", .instant),
        ]))
}
