import ActionCable
import Domain
import Features
import Server
import Wire

extension QuestionDescriptions {
    static let schemas = FeatureMessages(
        documents: [
            MessageSchemas(
                name: "questions", title: "Messages of a question session: /questions/{session}/socket",
                server: [
                    .message("handshake", handshake),
                    .message("presence", [.member("data", .object([.member("count", .count)]))]),
                ] + events.map { .message($0, $1) },
                client: [
                    .message("newQuestion", [.member("id", .uuid), .member("content", content)]),
                    .message("vote", [.member("questionId", .uuid)]),
                    .message("unvote", [.member("questionId", .uuid)]),
                ])
        ],
        // `presence` is missing here, because the schema of matches' rooms already includes it.
        contents: [CableContentSchema("handshake", .object(handshake))]
            + events.map { CableContentSchema($0, .object($1)) })

    private static let handshake: [JSONSchema.Member] = [.member("id", .uuid)]

    /// The messages that all transports send.
    private static let events: [(type: String, members: [JSONSchema.Member])] = [
        (
            "questionResponse",
            [
                .member("success", .boolean), .member("message", .text()), .optional("id", .uuid),
                .member("answered", .boolean), .member("content", .text()), .optional("createdAt", .number),
            ]
        ),
        ("questionAnswer", [.member("questionId", .uuid)]),
        ("announcement", [.member("content", .text())]),
        ("error", [.optional("code", .text()), .member("reason", .text())]),
        ("questions", [.member("questions", .array(question)), .member("more", .boolean)]),
        ("question", [.member("question", question)]),
        ("questionRemoved", [.member("questionId", .uuid)]),
        ("session", [.member("state", .enum(["open", "closed"]))]),
    ]
}
