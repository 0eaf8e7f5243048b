import Domain
import Server
import Wire

/// Descriptions of the routes of conversations.
enum ConversationDescriptions {
    private static let device = JSONSchema.Member.optional("deviceId", .device)
    private static let asks: [RouteDescription.Parameter] = [
        .optional("deviceId", "The caller's device, unless a ticket names it.", .device),
        .optional("token", "A ticket.", .text()),
    ]
    private static let conversationID = RouteDescription.Parameter.path("conversation", "The conversation.", .uuid)
    private static let name = JSONSchema.text(length: 1...UserName.maximumLength, pattern: "^[A-Za-z0-9_-]+$")
    private static let noUser = RouteDescription.Answer.refusal(404, "no_such_user", meaning: "Nobody has that name.")
    private static let noConversation = RouteDescription.Answer.refusal(
        404, "no_such_conversation", meaning: "There is no such conversation, or you aren't in it.")
    private static let nameRequired = RouteDescription.Answer.refusal(
        409, "name_required", "device_erased", meaning: "You have no name, or your device was erased.")

    static let message = JSONSchema.shared(
        "Message",
        .object([
            .member("id", .uuid), .member("content", .text()), .member("author", .text()), .member("date", .instant),
            .member("conversation", .uuid), .member("offset", .integer(1 ... .max)),
            .optional("reactions", .array(reaction, most: 20)),
        ]))

    static let emoji = JSONSchema.text(length: 1...Emoji.maximumScalars)

    private static let reaction = JSONSchema.shared(
        "Reaction",
        .object([
            .member("emoji", emoji), .member("count", .integer(1 ... .max)),
            .member("users", .array(name, most: Reaction.maximumNames)),
        ]))

    private static let summaryMembers: [JSONSchema.Member] = [
        .member("id", .uuid), .member("name", .text()), .member("type", .enum(["person", "group"])),
        .member("participants", .array(.text())), .member("lastOffset", .count), .optional("lastMessage", message),
    ]
    /// The fields of a conversation that are the same for all participants.
    static let summary = JSONSchema.shared("ConversationSummary", .object(summaryMembers))

    private static let conversation = JSONSchema.shared(
        "Conversation",
        .object(
            summaryMembers + [.member("readOffset", .count), .member("muted", .boolean)]))

    private static let user = JSONSchema.shared("User", .object([.member("name", name)]))

    static let takeName = RouteDescription(
        "Take a name",
        details: "A free name belongs to the first device that takes it. A device can't change its name.",
        body: .init(
            .object([device, .member("name", name)]), example: #"{"deviceId":"anna-7c1f","name":"anna"}"#),
        answers: [
            .json(201, "The name is now yours.", user),
            .json(200, "The name was yours already.", user),
            .refusal(
                409, "name_taken", "has_name", "device_erased",
                meaning: "Another device has the name, you have another name, or your device was erased."),
            .refusal(429, "too_many_names", meaning: "The address has taken the maximum number of names per hour."),
            .storageFull,
        ] + RouteDescription.ticketRefusals, example: "/users")

    static let users = RouteDescription(
        "Find names", parameters: asks + [.optional("prefix", "The first characters of the names.", .text())],
        answers: [.json("At most 100 names.", .object([.member("users", .array(name, most: 100))]))]
            + RouteDescription.ticketRefusals)

    private static let block = JSONSchema.shared(
        "Block",
        .object([
            .member("id", .uuid), .optional("name", name), .optional("title", .text()), .optional("startsAt", .instant),
            .member("blockedAt", .instant),
        ]))

    static let makeBlock = RouteDescription(
        "Block someone",
        details: "The body has either the other's name, or the taskId of your own task with that partner.",
        body: .init(
            .object([device, .optional("name", name), .optional("taskId", .uuid)]),
            example: #"{"deviceId":"anna-7c1f","name":"ben"}"#),
        answers: [
            .json(201, "The new block.", block), .json(200, "The block exists already.", block),
            .refusal(404, "no_such_user", "no_such_task", meaning: "There is no such user or task."),
            .refusal(
                409, "no_partner", "name_required", "device_erased",
                meaning: "The task has no partner to block, you have no name, or your device was erased."),
            .refusal(429, "too_many_blocks", meaning: "You have the maximum number of blocks."),
        ] + RouteDescription.ticketRefusals)

    static let blocks = RouteDescription(
        "List your blocks, the latest first",
        parameters: asks + [.optional("before", "The member next of the previous page.", .uuid)],
        answers: [
            .json(
                "At most 100 blocks.",
                .object([.member("blocks", .array(block, most: 100)), .optional("next", .uuid)]))
        ] + RouteDescription.ticketRefusals)

    static let unblock = RouteDescription(
        "Remove a block", parameters: [.path("id", "The block.", .uuid)] + asks,
        answers: [
            .json("The block is removed.", .emptyObject),
            .refusal(404, "no_such_block", meaning: "You have no such block."),
        ]
            + RouteDescription.ticketRefusals)

    private static let partnerAnswers: [RouteDescription.Answer] = [
        .refusal(
            403, "blocked", "topic_not_allowed",
            meaning: "One of you blocks the other, or the ticket doesn't allow this."),
        .refusal(404, "no_such_task", meaning: "The device has no such task."),
        .refusal(
            409, "no_partner", "name_required", "device_erased",
            meaning: "The task has no partner, you have no name, or your device was erased."),
        .refusal(429, "too_many_conversations", meaning: "You made or answered too many conversations."),
        .storageFull,
        RouteDescription.ticketRefusals[0],
    ]
    private static let partner = JSONSchema.shared(
        "PartnerConversation",
        .object([
            .member("asked", .boolean), .member("partnerAsked", .boolean), .optional("conversation", conversation),
        ]))

    static let askPartner = RouteDescription(
        "Ask for a conversation with your partner",
        details: "The conversation opens when both partners have asked for it.",
        parameters: [.path("task", "Your own task.", .uuid)],
        body: .init(.object([device]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json(200, "The conversation exists already.", partner), .json(201, "The conversation is open.", partner),
            .json(202, "The partner hasn't asked yet.", partner),
        ] + partnerAnswers)

    static let lookAtPartner = RouteDescription(
        "Read who has asked for the conversation", parameters: [.path("task", "Your own task.", .uuid)] + asks,
        answers: [.json("Who has asked, and the conversation if it is open.", partner)] + partnerAnswers)

    static let make = RouteDescription(
        "Start a conversation",
        details:
            """
            Two people have one conversation. With more people the request creates a new group, unless id is \
            repeated.
            """,
        body: .init(
            .object([
                device, .member("participants", .array(name, most: Conversation.maximumParticipants)),
                .optional("id", .uuid),
            ]), example: #"{"deviceId":"anna-7c1f","participants":["ben"]}"#),
        answers: [
            .json(201, "The new conversation.", conversation),
            .json(200, "The conversation exists already.", conversation), noUser,
            .refusal(
                409, "name_required", "id_taken", "device_erased",
                meaning: "You have no name, the id is in use, or your device was erased."),
            .refusal(429, "too_many_conversations", meaning: "You made or answered too many conversations."),
            .storageFull,
        ] + refusals, example: "/conversations")

    static let list = RouteDescription(
        "List your conversations, the latest first",
        parameters: asks + [
            .optional("before", "The member next of the previous page, or a conversation's id.", .text())
        ],
        answers: [
            .json(
                "At most 100 entries, or 32 KiB.",
                .object([.member("conversations", .array(conversation)), .optional("next", .text())])),
            .other("The page for browsers, for a request without deviceId or ticket.", "text/html"),
            .nothing(304, "The page hasn't changed."), noConversation, nameRequired,
        ] + RouteDescription.ticketRefusals, example: "'/conversations?deviceId=anna-7c1f'")

    static let messages = RouteDescription(
        "Read the messages of a conversation",
        parameters: [conversationID] + asks + [
            .optional("after", "Returns the messages after this offset.", .count),
            .optional("before", "Returns the last messages before this offset.", .count),
            .optional("limit", "The maximum number of messages.", .integer(1 ... .max)),
        ],
        answers: [
            .json(
                "At most 100 entries, or 32 KiB.",
                .object([
                    .member("messages", .array(message, most: ConversationPage.maximumCount)),
                    .member("lastOffset", .count),
                ])), noConversation, nameRequired,
        ] + RouteDescription.ticketRefusals)

    static func set(_ kind: ParticipantRequest.Kind) -> RouteDescription {
        let (summary, members, example): (String, [JSONSchema.Member], String) =
            switch kind {
            case .read: ("Record how far you have read", [.member("offset", .count)], #","offset":1"#)
            case .mute: ("Mute or unmute a conversation", [.member("muted", .boolean)], #","muted":true"#)
            case .leave: ("Leave a conversation", [], "")
            }
        return RouteDescription(
            summary, parameters: [conversationID],
            body: .init(.object([device] + members), example: #"{"deviceId":"anna-7c1f"\#(example)}"#),
            answers: [.json("The conversation.", conversation), noConversation, nameRequired]
                + RouteDescription.ticketRefusals)
    }

    private static let sentMessages = JSONSchema.shared(
        "SentMessages", .object([.member("messages", .array(message))]))

    static let send = RouteDescription(
        "Send a message",
        details:
            """
            The target is one of conversation, conversations and routingKey. A routingKey is the others' names, \
            joined by dots. A repeated id sends no second message.
            """,
        body: .init(
            .object([
                device, .member("content", .text(length: 1...ConversationMessage.maximumScalars)),
                .optional("id", .uuid), .optional("conversation", .uuid),
                .optional("conversations", .array(.uuid, most: MessageTarget.maximumConversations)),
                .optional("routingKey", .text()),
            ]), example: #"{"deviceId":"anna-7c1f","content":"Tea?","routingKey":"ben"}"#),
        answers: [
            .json(201, "The message in each conversation.", sentMessages),
            .json(200, "The messages sent by the first request.", sentMessages),
            .refusal(
                404, "no_such_user", "no_such_conversation",
                meaning: "There is no such user, or no such conversation with you in it."),
            .refusal(
                409, "name_required", "id_taken", "device_erased",
                meaning: "You have no name, the id is in use, or your device was erased."),
            .refusal(
                429, "too_many_messages", "too_many_conversations",
                meaning:
                    """
                    The device or address has reached its limit of messages, or a participant its limit of \
                    conversations.
                    """
            ), .storageFull,
        ] + refusals, example: "/messages")

    private static let messageID = RouteDescription.Parameter.path("message", "The message's id.", .uuid)

    private static let reactionAnswers: [RouteDescription.Answer] = [
        .refusal(
            404, "no_such_conversation", "no_such_message",
            meaning:
                "You aren't in such a conversation, or it has no such message, or the message's author was erased."),
        .refusal(429, "too_many_messages", meaning: "The device or address has reached its limit of messages."),
    ]

    static let react = RouteDescription(
        "React to a message",
        details:
            "A message can have 20 different emoji, and 5 of each person. A reaction counts as a message in all rates.",
        parameters: [conversationID, messageID],
        body: .init(.object([device, .member("emoji", emoji)]), example: #"{"deviceId":"anna-7c1f","emoji":"🎉"}"#),
        answers: [
            .json(201, "The message with the new reaction.", message),
            .json(200, "You have already reacted with this emoji.", message),
            .refusal(
                409, "name_required", "too_many_reactions", "device_erased",
                meaning: "You have no name, the message has too many reactions, or your device was erased."),
            .storageFull,
        ] + reactionAnswers + refusals)

    static let unreact = RouteDescription(
        "Remove your reaction to a message",
        parameters: [conversationID, messageID] + asks + [.query("emoji", "The emoji of the reaction.", emoji)],
        answers: [.json("The message without the reaction.", message), nameRequired] + reactionAnswers
            + RouteDescription.ticketRefusals)

    private static let after = RouteDescription.Parameter.optional(
        "after",
        "Pairs <conversation>:<offset>, separated by commas. The server first sends the messages after these offsets.",
        .text())

    static let follow = RouteDescription(
        "Stream messages", details: "Server-sent events, for curl -N.", parameters: asks + [after],
        answers: [
            RouteDescription.eventStream, nameRequired,
        ]
            + RouteDescription.ticketRefusals, example: "'/messages?deviceId=anna-7c1f' -N")

    static let socket = RouteDescription.socket(
        "Send and receive messages of all conversations", details: "The messages are in /schemas/conversations.json.",
        parameters: asks + [after],
        refusals: [nameRequired]
            + RouteDescription.ticketRefusals)

    /// The refusals of requests whose effects other users receive.
    private static let refusals = [
        RouteDescription.ticketRefusals[0],
        .refusal(
            403, "blocked", "topic_not_allowed",
            meaning: "A participant blocks another, or the ticket doesn't allow this."),
    ]
}
