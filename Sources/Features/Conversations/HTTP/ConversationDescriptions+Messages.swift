import ActionCable
import Domain
import Features
import Server
import Wire

extension ConversationDescriptions {
    static let schemas = FeatureMessages(
        documents: [
            MessageSchemas(
                name: "conversations", title: "Messages of a device's conversations: /conversations/socket",
                server: [
                    .message(
                        "handshake",
                        [
                            .member("id", .uuid), .member("user", .text()), .member("binding", .text()),
                            .member("offsets", .map(.count)),
                        ]),
                    .message("message", received),
                    .message("left", left),
                    .message("reaction", change),
                    .message("presence", [.member("data", .object(presence))]),
                    .message("sent", sent), .message("history", history), .message("reacted", reacted),
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
                    .message(
                        "react",
                        [
                            ref, .member("conversation", .uuid), .member("messageId", .uuid), .member("emoji", emoji),
                            .optional("remove", .boolean),
                        ]),
                ])
        ],
        contents: [
            CableContentSchema("presence", .object(presence)), CableContentSchema("new_chat", summary),
            CableContentSchema("update_chat", summary), CableContentSchema("message", message),
            CableContentSchema("left", .object(left)), CableContentSchema("sent", .object(sent)),
            CableContentSchema("history", .object(history)), CableContentSchema("reaction", .object(change)),
            CableContentSchema("reacted", .object(reacted)),
        ],
        streams: [
            FeatureMessages.Stream(
                "/messages",
                [
                    ("message", .message("message", received)), ("left", .message("left", left)),
                    ("reaction", .message("reaction", change)),
                ])
        ])

    private static let received: [JSONSchema.Member] = [
        .member("routingKey", .text()), .member("message", message),
    ]
    private static let left: [JSONSchema.Member] = [
        .member("conversation", .uuid), .member("user", .text()), .member("participants", .array(.text())),
    ]
    private static let change: [JSONSchema.Member] = [
        .member("conversation", .uuid), .member("offset", .integer(1 ... .max)), .member("messageId", .uuid),
        .member("user", .text()), .member("emoji", emoji), .member("added", .boolean),
    ]
    private static let presence: [JSONSchema.Member] = [
        .member("conversation", .uuid), .member("count", .count), .member("users", .array(.text())),
    ]
    private static let sent: [JSONSchema.Member] = [ref, .member("ids", .array(.uuid))]
    private static let history: [JSONSchema.Member] = [
        ref, .member("messages", .array(message)), .member("lastOffset", .count),
    ]

    private static let reacted: [JSONSchema.Member] = [ref, .member("message", message)]

    /// A text that the client chooses and the answer repeats.
    private static let ref = JSONSchema.Member.optional("ref", .text())
}
