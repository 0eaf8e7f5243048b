import Domain
import Messaging
import Server
package import Wire

/// What the routes of sessions of questions are, for those who use them.
package enum QuestionDescriptions {
    private static let sessionID = RouteDescription.Parameter.path("session", "The session.", .uuid)
    private static let authorization = RouteDescription.Parameter.header(
        "Authorization", "Bearer, and the presenter's key.", .text())
    private static let after = RouteDescription.Parameter.optional("after", "The last question that one has.", .uuid)
    private static let page = RouteDescription.Answer.other("a page", "text/html")
    private static let unchanged = RouteDescription.Answer.nothing(304, "it is as it was")
    /// What a form is answered with.
    private static let elsewhere = RouteDescription.Answer.nothing(303, "done; for a form, the page that shows it")
    private static let noSession = RouteDescription.Answer.refusal(404, "no_such_session", meaning: "there is none")
    private static let presenterOnly = RouteDescription.Answer.refusal(
        403, "presenter_only", "origin_not_allowed", meaning: "the key is missing, or another's")

    private static let session = JSONSchema.object([
        .member("id", .uuid), .member("title", .text()), .member("state", .words(["open", "closed"])),
        .member("moderated", .boolean), .optional("presenterKey", .said("Shown this once.", .text())),
    ])

    package static let question = JSONSchema.object([
        .member("id", .uuid), .member("session", .uuid), .member("content", .text()), .member("answered", .boolean),
        .optional("answer", .text()), .member("votes", .count), .member("state", .text()),
        .member("askedAt", .instant), .optional("askedFrom", .said("For the presenter alone.", .uuid)),
    ])

    private static let content = JSONSchema.text(length: 1...QuestionText.maximumScalars)

    static let table = RouteDescription(
        "The page that makes a session",
        details:
            "Where --open-questions is set, the table of the session that is everybody's, a hundred questions a page.",
        parameters: [after], answers: [page, unchanged])

    static let make = RouteDescription(
        "Make a session",
        body: .init(
            .object([
                .optional("deviceId", .device), .member("title", .title), .optional("moderated", .boolean),
            ]),
            form: .object([
                .optional("deviceId", .device), .member("title", .title), .optional("moderated", .text()),
            ]), example: #"{"deviceId":"speaker","title":"Tea, and how to make it"}"#),
        answers: [
            .json(201, "the session, with the presenter's key", session), elsewhere,
            .refusal(429, "too_many_sessions", meaning: "the device has as many as it may"),
            .refusal(503, "storage_full", meaning: "as much is kept as may be"),
        ] + RouteDescription.ticketRefusals,
        example: "/questions/sessions")

    static let audiencePage = RouteDescription(
        "The audience's page", parameters: [sessionID], answers: [page, unchanged, noSession])

    static let presenterPage = RouteDescription(
        "The presenter's page",
        parameters: [sessionID, .optional("key", "Put into a cookie, at the first time.", .text())],
        answers: [page, unchanged, .nothing(303, "the same without the key"), presenterOnly, noSession])

    static let list = RouteDescription(
        "The questions of a session",
        parameters: [
            sessionID, after, authorization,
        ],
        answers: [
            .json(
                "a hundred, in the order of asking",
                .object([
                    .member("questions", .array(question, most: QuestionPage.maximumCount)), .member("more", .boolean),
                ])), presenterOnly, noSession,
        ], example: "/questions/6B1D0000-0000-4000-8000-000000000000/list")

    static func set(_ word: String) -> RouteDescription {
        RouteDescription(
            word == "open" ? "Open a session again" : "Close a session",
            details: "A closed one can be read, and nothing in it changes.", parameters: [sessionID, authorization],
            body: .init(.object([]), form: .object([]), example: "{}"),
            answers: [.json("the session", session), elsewhere, presenterOnly, noSession])
    }

    static let announce = RouteDescription(
        "Say something to a session", parameters: [sessionID, authorization],
        body: .init(
            .object([
                .member("content", content),
                .member(
                    "to",
                    .either([
                        .words(["all"]),
                        .object([.member("ids", .array(.uuid, most: Recipients.maximumCount))]),
                        .object([.member("allBut", .array(.uuid, most: Recipients.maximumCount))]),
                    ])),
            ]), form: .object([.member("content", content)]), example: #"{"content":"We begin at three.","to":"all"}"#),
        answers: [
            .json("how many sockets of this daemon's", .object([.member("sent", .count)])), elsewhere, presenterOnly,
            noSession, .refusal(409, "session_closed", meaning: "it is closed"),
            .refusal(
                429, "too_many_announcements", "too_many_messages",
                meaning: "twenty a minute, 200 an hour; or the address has said as much today as may be kept of it"),
        ])

    static func moderate(_ word: String) -> RouteDescription {
        RouteDescription(
            "Moderate a question: \(word)",
            parameters: [.path("question", "The question.", .uuid), authorization],
            body: .init(
                .object([.optional("answer", content)]), form: .object([.optional("answer", .text())]),
                example: word == "answer" ? #"{"answer":"Four minutes."}"# : "{}"),
            answers: [
                .json("the question", question), elsewhere, presenterOnly,
                .refusal(404, "no_such_question", "no_such_session", meaning: "there is none"),
                .refusal(409, "session_closed", meaning: "its session is closed"),
            ])
    }

    static let socket = RouteDescription.socket(
        "A session, as it happens", details: "What is said there: /schemas/questions.json.",
        parameters: [
            sessionID, .optional("deviceId", "Who asks and votes.", .device), .optional("token", "A ticket.", .text()),
            .optional("live", "Whether to be told the list, and what changes.", .words(["true", "false"])),
        ],
        refusals: [noSession, .refusal(409, "session_full", meaning: "there is no place")]
            + RouteDescription.ticketRefusals)
}
