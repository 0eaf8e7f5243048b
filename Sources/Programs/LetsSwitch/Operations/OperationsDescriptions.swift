import Observability
import Server
import Wire

enum OperationsDescriptions {
    static let health = RouteDescription(
        "Check that the process is up",
        answers: [.json("The process is up.", .object([.member("status", .enum(["ok"]))]))],
        example: "/healthz")

    private static let readiness = JSONSchema.shared(
        "Readiness",
        .object([
            .member("ready", .boolean), .member("database", .boolean), .member("migrated", .boolean),
            .member("draining", .boolean), .optional("reason", .text()),
        ]))

    static let ready = RouteDescription(
        "Check that requests are answered and reminders are sent",
        answers: [
            .json("The server is ready.", readiness),
            .json(503, "The server isn't ready. The member reason says why.", readiness),
        ],
        example: "/readyz")

    static let metrics = RouteDescription(
        "Get metrics in Prometheus' text format", answers: [.other("The metrics.", "text/plain")], example: "/metrics")
}
