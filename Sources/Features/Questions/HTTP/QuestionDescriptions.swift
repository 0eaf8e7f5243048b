import Domain
import Server
import Wire

/// Descriptions of the routes of question sessions.
enum QuestionDescriptions {
    private static let sessionID = RouteDescription.Parameter.path("session", "The session.", .uuid)
    private static let authorization = RouteDescription.Parameter.header(
        "Authorization", "Bearer, followed by the presenter's key.", .text())
    private static let after = RouteDescription.Parameter.optional(
        "after", "The last question of the previous page.", .uuid)
    private static let page = RouteDescription.Answer.other("The page.", "text/html")
    private static let unchanged = RouteDescription.Answer.nothing(304, "The page hasn't changed.")
    /// The answer to a form: a redirection.
    private static let elsewhere = RouteDescription.Answer.nothing(
        303, "Done. A form is redirected to the page that shows the result.")
    private static let noSession = RouteDescription.Answer.refusal(
        404, "no_such_session", meaning: "There is no such session.")
    private static let presenterOnly = RouteDescription.Answer.refusal(
        403, "presenter_only", "origin_not_allowed",
        meaning: "The presenter's key is missing or wrong, or the page belongs to an origin that isn't allowed.")

    private static let session = JSONSchema.shared(
        "QuestionSession",
        .object([
            .member("id", .uuid), .member("title", .text()), .member("state", .enum(["open", "closed"])),
            .member("moderated", .boolean),
            .optional(
                "presenterKey", .described("The presenter's key. The server shows it only in this answer.", .text())),
        ]))

    static let question = JSONSchema.shared(
        "Question",
        .object([
            .member("id", .uuid), .member("session", .uuid), .member("content", .text()), .member("answered", .boolean),
            .optional("answer", .text()), .member("votes", .count), .member("state", .text()),
            .member("askedAt", .instant),
            .optional("askedFrom", .described("The id of the member that asked. Only presenters receive it.", .uuid)),
        ]))

    static let content = JSONSchema.text(length: 1...QuestionText.maximumScalars)

    static let table = RouteDescription(
        "Get the page that creates a session",
        details:
            "With --open-questions, the page is the table of the open session, with 100 questions a page.",
        parameters: [after], answers: [page, unchanged])

    static let make = RouteDescription(
        "Create a question session",
        body: .init(
            .object([
                .optional("deviceId", .device), .member("title", .title), .optional("moderated", .boolean),
            ]),
            form: .object([
                .optional("deviceId", .device), .member("title", .title), .optional("moderated", .text()),
            ]), example: #"{"deviceId":"speaker","title":"Tea, and how to make it"}"#),
        answers: [
            .json(201, "The session, with the presenter's key.", session), elsewhere,
            .refusal(429, "too_many_sessions", meaning: "The device has the maximum number of sessions."),
            .storageFull,
        ] + RouteDescription.ticketRefusals,
        example: "/questions/sessions")

    static let audiencePage = RouteDescription(
        "Get the audience's page", parameters: [sessionID], answers: [page, unchanged, noSession])

    static let presenterPage = RouteDescription(
        "Get the presenter's page",
        parameters: [sessionID, .optional("key", "The presenter's key. The server moves it into a cookie.", .text())],
        answers: [
            page, unchanged, .nothing(303, "A redirect to the same page without the key in its address."),
            presenterOnly, noSession,
        ])

    static let list = RouteDescription(
        "List the questions of a session",
        parameters: [
            sessionID, after, authorization,
        ],
        answers: [
            .json(
                "At most 100 questions, or 32 KiB, the oldest first.",
                .object([
                    .member("questions", .array(question, most: QuestionPage.maximumCount)), .member("more", .boolean),
                ])), presenterOnly, noSession,
        ], example: "/questions/6B1D0000-0000-4000-8000-000000000000/list")

    static func set(_ word: String) -> RouteDescription {
        RouteDescription(
            word == "open" ? "Open a session again" : "Close a session",
            details: "A closed session can be read but not changed.", parameters: [sessionID, authorization],
            body: .init(.object([]), form: .object([]), example: "{}"),
            answers: [.json("The session.", session), elsewhere, presenterOnly, noSession])
    }

    static let announce = RouteDescription(
        "Send an announcement to a session", parameters: [sessionID, authorization],
        body: .init(
            .object([
                .member("content", content),
                .member(
                    "to",
                    .either([
                        .enum(["all"]),
                        .object([.member("ids", .array(.uuid, most: Recipients.maximumCount))]),
                        .object([.member("allBut", .array(.uuid, most: Recipients.maximumCount))]),
                    ])),
            ]), form: .object([.member("content", content)]), example: #"{"content":"We begin at three.","to":"all"}"#),
        answers: [
            .json(
                "The number of this daemon's sockets that receive the announcement.", .object([.member("sent", .count)])
            ), elsewhere, presenterOnly,
            noSession, .refusal(409, "session_closed", meaning: "The session is closed."),
            .refusal(
                429, "too_many_announcements", "too_many_messages",
                meaning:
                    """
                    The session has reached 20 announcements a minute or 200 an hour, or the address its limit of \
                    stored messages a day.
                    """
            ),
        ])

    static func moderate(_ word: String) -> RouteDescription {
        RouteDescription(
            moderation[word] ?? word,
            parameters: [.path("question", "The question.", .uuid), authorization],
            body: .init(
                .object([.optional("answer", content)]), form: .object([.optional("answer", .text())]),
                example: word == "answer" ? #"{"answer":"Four minutes."}"# : "{}"),
            answers: [
                .json("The question.", question), elsewhere, presenterOnly,
                .refusal(404, "no_such_question", "no_such_session", meaning: "There is no such question or session."),
                .refusal(409, "session_closed", meaning: "The question's session is closed."),
            ])
    }

    /// The summaries of the routes that moderate a question.
    private static let moderation = [
        "answer": "Answer a question", "approve": "Approve a question", "dismiss": "Dismiss a question",
        "reopen": "Reopen a question",
    ]

    static let socket = RouteDescription.socket(
        "Follow a session, ask and vote", details: "The messages are in /schemas/questions.json.",
        parameters: [
            sessionID, .optional("deviceId", "The device that asks and votes.", .device),
            .optional("token", "A ticket.", .text()),
            .optional(
                "live", "Whether the server sends the list of questions and its changes.", .enum(["true", "false"])),
        ],
        refusals: [noSession, .refusal(409, "session_full", meaning: "The session has its maximum number of sockets.")]
            + RouteDescription.ticketRefusals)
}
