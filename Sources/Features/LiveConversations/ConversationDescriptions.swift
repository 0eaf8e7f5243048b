import Domain
import Messaging
package import Server
package import Wire

/// What the routes of conversations are, for those who use them.
package enum ConversationDescriptions {
    private static let device = JSONSchema.Member.optional("deviceId", .device)
    private static let asks: [RouteDescription.Parameter] = [
        .optional("deviceId", "Who asks, unless a ticket says it.", .device), .optional("token", "A ticket.", .text()),
    ]
    private static let conversationID = RouteDescription.Parameter.path("conversation", "The conversation.", .uuid)
    private static let name = JSONSchema.text(length: 1...UserName.maximumLength, pattern: "^[A-Za-z0-9_-]+$")
    private static let noUser = RouteDescription.Answer.refusal(404, "no_such_user", meaning: "nobody has that name")
    private static let noConversation = RouteDescription.Answer.refusal(
        404, "no_such_conversation", meaning: "there is none, or one isn't in it")
    private static let nameless = RouteDescription.Answer.refusal(
        409, "name_required", "device_erased", meaning: "you have no name")
    private static let full = RouteDescription.Answer.refusal(
        503, "storage_full", meaning: "as much is kept as may be")

    package static let message = JSONSchema.object([
        .member("id", .uuid), .member("content", .text()), .member("author", .text()), .member("date", .instant),
        .member("conversation", .uuid), .member("offset", .integer(1 ... .max)),
    ])

    private static let summaryMembers: [JSONSchema.Member] = [
        .member("id", .uuid), .member("name", .text()), .member("type", .words(["person", "group"])),
        .member("participants", .array(.text())), .member("lastOffset", .count), .optional("lastMessage", message),
    ]
    /// Of a conversation, what is the same for all who are in it.
    package static let summary = JSONSchema.object(summaryMembers)

    private static let conversation = JSONSchema.object(
        summaryMembers + [.member("readOffset", .count), .member("muted", .boolean)])

    static let takeName = RouteDescription(
        "Take a name", details: "First come, first served; it never changes.",
        body: .init(
            .object([device, .member("name", name)]), example: #"{"deviceId":"anna-7c1f","name":"anna"}"#),
        answers: [
            .json(201, "it is yours", .object([.member("name", name)])),
            .json(200, "it was yours already", .object([.member("name", name)])),
            .refusal(409, "name_taken", "has_name", "device_erased", meaning: "it is another's, or you have one"),
            .refusal(429, "too_many_names", meaning: "the address takes more in an hour than it may"), full,
        ] + RouteDescription.ticketRefusals, example: "/users")

    static let users = RouteDescription(
        "Find names", parameters: asks + [.optional("prefix", "How they begin.", .text())],
        answers: [.json("a hundred at most", .object([.member("users", .array(name, most: 100))]))]
            + RouteDescription.ticketRefusals)

    private static let block = JSONSchema.object([
        .member("id", .uuid), .optional("name", name), .optional("title", .text()), .optional("startsAt", .instant),
        .member("blockedAt", .instant),
    ])

    static let makeBlock = RouteDescription(
        "Not meet somebody any more",
        details: "One of name and taskId, of one's own task with that partner, says whom.",
        body: .init(
            .object([device, .optional("name", name), .optional("taskId", .uuid)]),
            example: #"{"deviceId":"anna-7c1f","name":"ben"}"#),
        answers: [
            .json(201, "the block", block), .json(200, "it was there", block),
            .refusal(404, "no_such_user", "no_such_task", meaning: "there is none"),
            .refusal(
                409, "no_partner", "name_required", "device_erased", meaning: "nobody to block, or you have no name"),
            .refusal(429, "too_many_blocks", meaning: "you block as many as you may"),
        ] + RouteDescription.ticketRefusals)

    static let blocks = RouteDescription(
        "Whom one doesn't want to meet, the latest first",
        parameters: asks + [.optional("before", "A list's next.", .uuid)],
        answers: [
            .json(
                "a hundred at most",
                .object([.member("blocks", .array(block, most: 100)), .optional("next", .uuid)]))
        ] + RouteDescription.ticketRefusals)

    static let unblock = RouteDescription(
        "Undo a block", parameters: [.path("id", "The block.", .uuid)] + asks,
        answers: [.json("done", .nothingToSay), .refusal(404, "no_such_block", meaning: "there is none")]
            + RouteDescription.ticketRefusals)

    private static let partnerAnswers: [RouteDescription.Answer] = [
        .refusal(
            403, "blocked", "topic_not_allowed", meaning: "one of you blocks the other, or the ticket is not for this"),
        .refusal(404, "no_such_task", meaning: "there is none"),
        .refusal(409, "no_partner", "name_required", "device_erased", meaning: "no partner, or you have no name"),
        .refusal(429, "too_many_conversations", meaning: "somebody is in as many as may be"), full,
        RouteDescription.ticketRefusals[0],
    ]
    private static let partner = JSONSchema.object([
        .member("asked", .boolean), .member("partnerAsked", .boolean), .optional("conversation", conversation),
    ])

    package static let askPartner = RouteDescription(
        "Talk on with one's partner", details: "A conversation is opened when both have asked.",
        parameters: [.path("task", "One's own task.", .uuid)],
        body: .init(.object([device]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json(200, "it is there already", partner), .json(201, "it is opened", partner),
            .json(202, "the partner is yet to ask", partner),
        ] + partnerAnswers)

    package static let lookAtPartner = RouteDescription(
        "Whether one's partner would like to talk on", parameters: [.path("task", "One's own task.", .uuid)] + asks,
        answers: [.json("how it stands", partner)] + partnerAnswers)

    static let make = RouteDescription(
        "Begin a conversation", details: "Two have one; more are a group, made anew but for a repeated id.",
        body: .init(
            .object([
                device, .member("participants", .array(name, most: Conversation.maximumParticipants)),
                .optional("id", .uuid),
            ]), example: #"{"deviceId":"anna-7c1f","participants":["ben"]}"#),
        answers: [
            .json(201, "the conversation", conversation), .json(200, "it was there", conversation), noUser,
            .refusal(
                409, "name_required", "id_taken", "device_erased", meaning: "you have no name, or the id is another's"),
            .refusal(429, "too_many_conversations", meaning: "somebody is in as many as may be"), full,
        ] + refusals, example: "/conversations")

    static let list = RouteDescription(
        "One's conversations, the latest first",
        parameters: asks + [.optional("before", "A list's next, or a conversation.", .text())],
        answers: [
            .json(
                "a hundred, or 32 KiB",
                .object([.member("conversations", .array(conversation)), .optional("next", .text())])),
            .other("the page for browsers, for whoever doesn't say who it is", "text/html"),
            .nothing(304, "the page is as it was"), noConversation, nameless,
        ] + RouteDescription.ticketRefusals, example: "'/conversations?deviceId=anna-7c1f'")

    static let messages = RouteDescription(
        "What was said in a conversation",
        parameters: [conversationID] + asks + [
            .optional("after", "Upwards from this offset.", .count),
            .optional("before", "The last ones below it.", .count),
            .optional("limit", "How many at most.", .integer(1 ... .max)),
        ],
        answers: [
            .json(
                "a hundred, or 32 KiB",
                .object([
                    .member("messages", .array(message, most: ConversationPage.maximumCount)),
                    .member("lastOffset", .count),
                ])), noConversation, nameless,
        ] + RouteDescription.ticketRefusals)

    static func set(_ kind: ParticipantRequest.Kind) -> RouteDescription {
        let (summary, members, example): (String, [JSONSchema.Member], String) =
            switch kind {
            case .read: ("Say how far one has read", [.member("offset", .count)], #","offset":1"#)
            case .mute: ("Mute a conversation, or not any more", [.member("muted", .boolean)], #","muted":true"#)
            case .leave: ("Leave a conversation", [], "")
            }
        return RouteDescription(
            summary, parameters: [conversationID],
            body: .init(.object([device] + members), example: #"{"deviceId":"anna-7c1f"\#(example)}"#),
            answers: [.json("the conversation", conversation), noConversation, nameless]
                + RouteDescription.ticketRefusals)
    }

    static let send = RouteDescription(
        "Say something",
        details:
            "To one of conversation, conversations and routingKey, which names the others with dots. An id makes a repeat harmless.",
        body: .init(
            .object([
                device, .member("content", .text(length: 1...ConversationMessage.maximumScalars)),
                .optional("id", .uuid), .optional("conversation", .uuid),
                .optional("conversations", .array(.uuid, most: MessageTarget.maximumConversations)),
                .optional("routingKey", .text()),
            ]), example: #"{"deviceId":"anna-7c1f","content":"Tea?","routingKey":"ben"}"#),
        answers: [
            .json(201, "the message in each", .object([.member("messages", .array(message))])),
            .json(200, "a repeat: the same", .object([.member("messages", .array(message))])),
            .refusal(404, "no_such_user", "no_such_conversation", meaning: "there is none, or one isn't in it"),
            .refusal(
                409, "name_required", "id_taken", "device_erased", meaning: "you have no name, or the id is another's"),
            .refusal(429, "too_many_messages", "too_many_conversations", meaning: "more than may be"), full,
        ] + refusals, example: "/messages")

    private static let after = RouteDescription.Parameter.optional(
        "after", "<conversation>:<offset>, with commas between several: what lies above is told first.", .text())

    static let follow = RouteDescription(
        "What is said, as it is said", details: "Server-sent events, for curl -N.", parameters: asks + [after],
        answers: [
            RouteDescription.eventStream, nameless,
        ]
            + RouteDescription.ticketRefusals, example: "'/messages?deviceId=anna-7c1f' -N")

    static let socket = RouteDescription.socket(
        "All of one's conversations", details: "What is said there: /schemas/conversations.json.",
        parameters: asks + [after],
        refusals: [nameless]
            + RouteDescription.ticketRefusals)

    /// Of what goes to others.
    private static let refusals = [
        RouteDescription.ticketRefusals[0],
        .refusal(
            403, "blocked", "topic_not_allowed", meaning: "one of you blocks the other, or the ticket is not for this"),
    ]
}
