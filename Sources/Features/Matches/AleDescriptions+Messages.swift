import ActionCable
import Domain
import Features
import Rooms
import Schedule
import Server
import Wire

extension AleDescriptions {
    static let schemas = FeatureMessages(
        documents: [
            MessageSchemas(
                name: "ale", title: "Messages in the room of a match: /socket?id=",
                server: [
                    .message("handshake"), .message("aleResponse", [.optional("kind", kind)]),
                    .message("presence", [.member("data", .object(presence))]),
                    .message("rematched", Rematch.schema),
                    .message("error", [.member("reason", .text())]),
                ],
                client: [.message("ale", [.member("id", .uuid), .optional("kind", .text())])])
        ],
        contents: [
            CableContentSchema("aleResponse", .object([.optional("kind", kind)])),
            CableContentSchema("presence", .object(presence)), CableContentSchema("closed", .object([])),
            CableContentSchema("rematched", .object(Rematch.schema)),
        ])

    private static let kind = JSONSchema.enum(CheerKind.allCases.compactMap(\.name).map(\.description))
    private static let presence: [JSONSchema.Member] = [.member("count", .count), .optional("partner", .text())]
}
