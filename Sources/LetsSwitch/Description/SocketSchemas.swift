import Domain
import LiveConversations
import LiveQuestions
import Messaging
import Server
import Wire

/// What is said on WebSockets, as JSON Schemas: `/schemas/ale.json` and its like, each with `$defs` of who says it.
struct SocketSchemas {
    let title: String
    /// By the server.
    let server: [JSONSchema]
    /// By whoever is connected.
    let client: [JSONSchema]

    static let all: [String: SocketSchemas] = ["ale": ale, "questions": questions, "conversations": conversations]

    var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("$schema", "https://json-schema.org/draft/2020-12/schema")
            object.member("title", title)
            object.name("anyOf")
            JSONSchema.write([.named("server"), .named("client")], to: &object)
            object.name("$defs")
            object.object { definitions in
                for (name, messages) in [("server", server), ("client", client)] {
                    definitions.name(name)
                    JSONSchema.either(messages).write(to: &definitions, references: "#/$defs/")
                }
            }
        }
        return json.bytes
    }

    /// Of a cheer.
    private static let kind = JSONSchema.words(["clap", "thumb", "spark", "heart", "fire"])

    private static let ale = SocketSchemas(
        title: "The room of a match: /socket?id=",
        server: [
            .message("handshake"), .message("aleResponse", [.optional("kind", kind)]),
            .message(
                "presence", [.member("data", .object([.member("count", .count), .optional("partner", .text())]))]),
            .message("error", [.member("reason", .text())]),
        ],
        client: [.message("ale", [.member("id", .uuid), .optional("kind", .text())])])

    private static let questions = SocketSchemas(
        title: "A session of questions: /questions/{session}/socket",
        server: [
            .message("handshake", [.member("id", .uuid)]),
            .message(
                "questionResponse",
                [
                    .member("success", .boolean), .member("message", .text()), .optional("id", .uuid),
                    .member("answered", .boolean), .member("content", .text()), .optional("createdAt", .number),
                ]),
            .message("questionAnswer", [.member("questionId", .uuid)]),
            .message("announcement", [.member("content", .text())]),
            .message("error", [.optional("code", .text()), .member("reason", .text())]),
            .message(
                "questions",
                [.member("questions", .array(QuestionDescriptions.question)), .member("more", .boolean)]),
            .message("question", [.member("question", QuestionDescriptions.question)]),
            .message("questionRemoved", [.member("questionId", .uuid)]),
            .message("session", [.member("state", .words(["open", "closed"]))]),
        ],
        client: [
            .message(
                "newQuestion",
                [.member("id", .uuid), .member("content", .text(length: 1...QuestionText.maximumScalars))]),
            .message("vote", [.member("questionId", .uuid)]), .message("unvote", [.member("questionId", .uuid)]),
        ])

    private static let conversations = SocketSchemas(
        title: "All of a device's conversations: /conversations/socket",
        server: [
            .message(
                "handshake",
                [
                    .member("id", .uuid), .member("user", .text()), .member("binding", .text()),
                    .member("offsets", .map(.count)),
                ]),
            .message(
                "message", [.member("routingKey", .text()), .member("message", ConversationDescriptions.message)]),
            .message(
                "left",
                [.member("conversation", .uuid), .member("user", .text()), .member("participants", .array(.text()))]),
            .message(
                "presence",
                [
                    .member(
                        "data",
                        .object([
                            .member("conversation", .uuid), .member("count", .count), .member("users", .array(.text())),
                        ]))
                ]),
            .message("sent", [ref, .member("ids", .array(.uuid))]),
            .message(
                "history",
                [ref, .member("messages", .array(ConversationDescriptions.message)), .member("lastOffset", .count)]),
            .message("error", [ref, .member("code", .text()), .member("reason", .text())]),
        ],
        client: [
            .message(
                "send",
                [
                    ref, .member("content", .text(length: 1...ConversationMessage.maximumScalars)),
                    .optional("id", .uuid), .optional("conversation", .uuid),
                    .optional("conversations", .array(.uuid, most: MessageTarget.maximumConversations)),
                    .optional("routingKey", .text()),
                ]),
            .message(
                "history",
                [ref, .member("conversation", .uuid), .optional("after", .count), .optional("limit", .count)]),
        ])

    /// Comes back with the answer.
    private static let ref = JSONSchema.Member.optional("ref", .text())
}

extension JSONSchema {
    /// An object with that type.
    fileprivate static func message(_ type: String, _ members: [Member] = []) -> JSONSchema {
        .object([.member("type", .words([type]))] + members)
    }

    fileprivate static func write(_ schemas: [JSONSchema], to json: inout JSONText) {
        json.array { array in for schema in schemas { schema.write(to: &array, references: "#/$defs/") } }
    }
}
