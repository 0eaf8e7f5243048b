import Domain
package import Server
import Wire

extension CableDescriptions {
    /// Returns the schemas of `/cable`.
    ///
    /// - Parameter contents: The messages of all channels.
    package static func schemas(_ contents: [CableContentSchema]) -> MessageSchemas {
        MessageSchemas(
            name: "cable", title: "Messages of Action Cable: /cable",
            server: replies + [
                .object([
                    identifier, .member("message", .either(CableContentSchema.joined(contents + [error]))),
                    .optional("stream_id", .text()), .optional("epoch", .text()), .optional("offset", .count),
                ])
            ],
            client: commands)
    }

    /// The messages of the server except those of channels.
    private static let replies: [JSONSchema] = [
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
    ]

    private static let commands: [JSONSchema] = [
        command("subscribe", [.optional("history", missed), .optional("presence", .object([]))]),
        command("unsubscribe"), command("history", [.member("history", missed)]),
        command("join", [.optional("presence", .object([]))]), command("leave"), command("presence"),
        .object([.member("command", .enum(["pong"]))]),
        command(
            "message",
            [.member("data", .described("A JSON object with the member action, written as a string.", .text()))]),
    ]

    /// The answer of every channel to an action that failed.
    private static let error = CableContentSchema(
        "error", .object([.optional("code", .text()), .member("reason", .text())]))

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
    private static let identifier = JSONSchema.Member.member(
        "identifier",
        .described("A JSON object with the member channel, written as a string.", .text(length: 0...1_024)))

    /// An identifier that isn't valid, returned unchanged.
    private static let rejected = JSONSchema.Member.member(
        "identifier", .described("The string that the client sent.", .text()))

    /// Returns the schema of a client's command.
    private static func command(_ name: String, _ members: [JSONSchema.Member] = []) -> JSONSchema {
        .object([.member("command", .enum([name])), identifier] + members)
    }
}
