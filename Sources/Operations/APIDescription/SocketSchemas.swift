import Conversations
import Domain
import Questions
import Server
import Wire

/// JSON Schemas of the messages on WebSockets and event streams, such as `/schemas/ale.json`. Each has one `$defs`
/// entry for each sender, or for each event.
struct SocketSchemas {
    let title: String
    /// Schemas by the name of the sender or the event.
    let parts: [(name: String, schema: JSONSchema)]

    static let all: [String: SocketSchemas] = [
        "ale": ale, "questions": questions, "conversations": conversations, "cable": cable, "events": events,
    ]

    private init(title: String, parts: [(name: String, schema: JSONSchema)]) {
        self.title = title
        self.parts = parts
    }

    /// - Parameters:
    ///   - server: The messages that the server sends.
    ///   - client: The messages that the client sends.
    private init(title: String, server: [JSONSchema], client: [JSONSchema]) {
        self.init(title: title, parts: [("server", .either(server)), ("client", .either(client))])
    }

    var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("$schema", "https://json-schema.org/draft/2020-12/schema")
            object.member("title", title)
            object.name("anyOf")
            JSONSchema.write(parts.map { .named($0.name) }, to: &object)
            object.name("$defs")
            object.object { definitions in
                var shared: [String: JSONSchema] = [:]
                for part in parts { part.schema.collectShared(into: &shared) }
                for (name, schema) in parts + shared.sorted(by: { $0.key < $1.key }).map({ ($0.key, $0.value) }) {
                    definitions.name(name)
                    schema.write(to: &definitions, references: "#/$defs/")
                }
            }
        }
        return json.bytes
    }

    /// The kind of a cheer.
    private static let kind = JSONSchema.enum(["clap", "thumb", "spark", "heart", "fire"])

    private static let roomPresence: [JSONSchema.Member] = [.member("count", .count), .optional("partner", .text())]

    private static let rematch: [JSONSchema.Member] = [
        .member("roomId", .uuid), .member("taskId", .uuid), .optional("partnerTask", .text()),
    ]

    private static let ale = SocketSchemas(
        title: "Messages in the room of a match: /socket?id=",
        server: [
            .message("handshake"), .message("aleResponse", [.optional("kind", kind)]),
            .message("presence", [.member("data", .object(roomPresence))]),
            .message("rematched", rematch),
            .message("error", [.member("reason", .text())]),
        ],
        client: [.message("ale", [.member("id", .uuid), .optional("kind", .text())])])

    /// Messages that subscribers of a question session receive.
    private static let questionEvents: [(type: String, members: [JSONSchema.Member])] = [
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
        (
            "questions",
            [.member("questions", .array(QuestionDescriptions.question)), .member("more", .boolean)]
        ),
        ("question", [.member("question", QuestionDescriptions.question)]),
        ("questionRemoved", [.member("questionId", .uuid)]),
        ("session", [.member("state", .enum(["open", "closed"]))]),
    ]

    private static let questions = SocketSchemas(
        title: "Messages of a question session: /questions/{session}/socket",
        server: [
            .message("handshake", [.member("id", .uuid)]),
            .message("presence", [.member("data", .object([.member("count", .count)]))]),
        ] + questionEvents.map { JSONSchema.message($0, $1) },
        client: [
            .message(
                "newQuestion",
                [.member("id", .uuid), .member("content", .text(length: 1...QuestionText.maximumScalars))]),
            .message("vote", [.member("questionId", .uuid)]), .message("unvote", [.member("questionId", .uuid)]),
        ])

    private static let conversations = SocketSchemas(
        title: "Messages of a device's conversations: /conversations/socket",
        server: [
            .message(
                "handshake",
                [
                    .member("id", .uuid), .member("user", .text()), .member("binding", .text()),
                    .member("offsets", .map(.count)),
                ]),
            .message(
                "message", [.member("routingKey", .text()), .member("message", ConversationDescriptions.message)]),
            .message("left", left),
            .message("presence", [.member("data", .object(conversationPresence))]),
            .message("sent", sent), .message("history", history),
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

    private static let left: [JSONSchema.Member] = [
        .member("conversation", .uuid), .member("user", .text()), .member("participants", .array(.text())),
    ]
    private static let conversationPresence: [JSONSchema.Member] = [
        .member("conversation", .uuid), .member("count", .count), .member("users", .array(.text())),
    ]
    private static let sent: [JSONSchema.Member] = [ref, .member("ids", .array(.uuid))]
    private static let history: [JSONSchema.Member] = [
        ref, .member("messages", .array(ConversationDescriptions.message)), .member("lastOffset", .count),
    ]

    /// A text of the client's choice that the answer repeats.
    private static let ref = JSONSchema.Member.optional("ref", .text())

    private static let reminder = JSONSchema.object([
        .member("type", .enum(["reminder"])), .member("id", .uuid), .member("taskId", .uuid),
        .member("title", .text()), .member("startsAt", .instant), .member("startTime", .text()),
        .member("timeZone", .text()), .optional("roomId", .uuid), .optional("partnerTask", .text()),
        .optional("test", .described("Whether this is an operator's test.", .boolean)),
    ])
    private static let schedule = JSONSchema.object([.member("startsAt", .instant)])

    private static let cable = SocketSchemas(
        title: "Messages of Action Cable: /cable",
        server: [
            .message(
                "welcome",
                [
                    .optional(
                        "sid",
                        .described(
                            "The session. Only the extended protocol has this and the next two members.", .text())),
                    .optional("restored", .boolean), .optional("restored_ids", .array(.text(length: 0...1_024))),
                ]), .message("ping", [.member("message", .count)]),
            .message("confirm_subscription", [identifier]), .message("reject_subscription", [rejected]),
            .message("confirm_history", [identifier]), .message("reject_history", [rejected]),
            .message("presence", [identifier, .member("message", .either(extendedPresence))]),
            .message(
                "disconnect",
                [
                    .member("reason", .enum(CableDisconnect.allCases.map(\.rawValue))), .member("reconnect", .boolean),
                ]),
            .object([
                identifier, .member("message", .either(contents)), .optional("stream_id", .text()),
                .optional("epoch", .text()), .optional("offset", .count),
            ]),
        ],
        client: [
            .command("subscribe", [.optional("history", missed), .optional("presence", .object([]))]),
            .command("unsubscribe"), .command("history", [.member("history", missed)]),
            .command("join", [.optional("presence", .object([]))]), .command("leave"), .command("presence"),
            .object([.member("command", .enum(["pong"]))]),
            .command(
                "message",
                [.member("data", .described("A JSON object with the member action, written as a string.", .text()))]),
        ])

    /// The position after which a client of the extended protocol asks for missed messages.
    private static let missed = JSONSchema.object([
        .optional("since", .count),
        .optional(
            "streams",
            .described(
                "The last received position of each stream, by its stream_id.",
                .map(.object([.member("offset", .count), .member("epoch", .text())])))),
    ])
    private static let extendedPresence: [JSONSchema] = [
        .message("join", [.member("id", .text()), .member("info", .object([.member("name", .text())]))]),
        .message("leave", [.member("id", .text())]),
        .message(
            "info",
            [
                .member("total", .count),
                .member(
                    "records",
                    .array(
                        .object([.member("id", .text()), .member("info", .object([.member("name", .text())]))]))),
            ]),
        .message("error"),
    ]

    /// The string that the client chose for its subscription.
    fileprivate static let identifier = JSONSchema.Member.member(
        "identifier",
        .described("A JSON object with the member channel, written as a string.", .text(length: 0...1_024)))

    /// An identifier that isn't valid, returned unchanged.
    private static let rejected = JSONSchema.Member.member(
        "identifier", .described("The string that the client sent.", .text()))

    /// Messages that subscribers of the channels receive.
    private static let contents: [JSONSchema] =
        [
            .content("aleResponse", .object([.optional("kind", kind)])),
            .content("presence", .either([.object(conversationPresence), .object(roomPresence)])),
            .content("closed", .object([])), .content("reminder", reminder), .content("schedule", schedule),
            .content("rematched", .object(rematch)),
            .content("new_chat", ConversationDescriptions.summary),
            .content("update_chat", ConversationDescriptions.summary),
            .content("message", ConversationDescriptions.message), .content("left", .object(left)),
            .content("sent", .object(sent)), .content("history", .object(history)),
            .content("handshake", .object([.member("id", .uuid)])),
        ] + questionEvents.map { .content($0, .object($1)) }

    private static let events = SocketSchemas(
        title: "The data of server-sent events by the event's name: /reminders and /messages",
        parts: [
            ("reminder", reminder), ("schedule", schedule), ("rematched", .message("rematched", rematch)),
            (
                "message",
                .message(
                    "message", [.member("routingKey", .text()), .member("message", ConversationDescriptions.message)])
            ),
            ("left", .message("left", left)),
        ])
}

extension JSONSchema {
    /// Returns the schema of a message with this type.
    fileprivate static func message(_ type: String, _ members: [Member] = []) -> JSONSchema {
        .object([.member("type", .enum([type]))] + members)
    }

    /// Returns the schema of a message on a channel of Action Cable.
    fileprivate static func content(_ type: String, _ data: JSONSchema) -> JSONSchema {
        .object([.member("type", .enum([type])), .member("data", data)])
    }

    /// Returns the schema of an Action Cable client's command.
    fileprivate static func command(_ name: String, _ members: [Member] = []) -> JSONSchema {
        .object([.member("command", .enum([name])), SocketSchemas.identifier] + members)
    }

    fileprivate static func write(_ schemas: [JSONSchema], to json: inout JSONText) {
        json.array { array in for schema in schemas { schema.write(to: &array, references: "#/$defs/") } }
    }
}
