import Domain
import Server
import Wire

/// The descriptions of the routes of invitations.
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
            .json(201, "The new task.", .task),
            .json(200, "The task exists already. Its title may have changed.", .task),
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

    private static let token = RouteDescription.Parameter.path(
        "token", "The last part of the invitation's link.", .text(pattern: "^[0-9a-f]{32}$"))
}
