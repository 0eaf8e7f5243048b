import Observability
import Server
import Wire

enum OperationsDescriptions {
    static let health = RouteDescription(
        "The process is up", answers: [.json("it is", .object([.member("status", .words(["ok"]))]))],
        example: "/healthz")

    private static let readiness = JSONSchema.object([
        .member("ready", .boolean), .member("database", .boolean), .member("migrated", .boolean),
        .member("draining", .boolean), .optional("reason", .text()),
    ])

    static let ready = RouteDescription(
        "Requests can be answered, and reminders go out",
        answers: [.json("they can", readiness), .json(503, "they can't; reason says why", readiness)],
        example: "/readyz")

    static let metrics = RouteDescription(
        "What is counted, for Prometheus", answers: [.other("text", "text/plain")], example: "/metrics")
}
