import ActionCable
import Domain
import Features
import Schedule
import Server
import Wire

extension EventStreamDescriptions {
    static let schemas = FeatureMessages(
        contents: [
            CableContentSchema("reminder", reminder), CableContentSchema("schedule", schedule),
            CableContentSchema("rematched", .object(Rematch.schema)),
        ],
        streams: [
            FeatureMessages.Stream(
                "/reminders",
                [
                    ("reminder", reminder), ("schedule", schedule),
                    ("rematched", .message("rematched", Rematch.schema)),
                ])
        ])

    private static let reminder = JSONSchema.message(
        "reminder",
        [
            .member("id", .uuid), .member("taskId", .uuid), .member("title", .text()), .member("startsAt", .instant),
            .member("startTime", .text()), .member("timeZone", .text()), .optional("roomId", .uuid),
            .optional("partnerTask", .text()),
            .optional("test", .described("Whether this is an operator's test.", .boolean)),
        ])
    private static let schedule = JSONSchema.object([.member("startsAt", .instant)])
}
