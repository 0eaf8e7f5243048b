import Basics
import Delivery
package import Server
package import Settings
import Wire

/// `GET /openapi.json`, `GET /help`, `GET /schemas/…`: what the routes are, and what is said on their WebSockets. Registered after all others, whose descriptions it shows.
package struct DescriptionController: RouteCollection, Sendable {
    /// Where people find the server; nil: as the request says.
    private let publicURL: String?
    private let maximumBodyBytes: Int
    private let table = Locked<[DescribedRoute]>([])

    package init(_ configuration: Configuration) {
        publicURL = configuration.providers.publicURL
        maximumBodyBytes = configuration.limits.http.bodyBytes
    }

    package func boot(routes: RoutesBuilder) {
        routes.get("openapi.json", as: Self.openAPI) { request in
            let document = OpenAPIDocument(
                routes: table.withLock { $0 }, address: address(request), maximumBodyBytes: maximumBodyBytes)
            return .json(document.json)
        }
        routes.get("help", as: Self.help) { request in
            .text(HelpPage(routes: table.withLock { $0 }, address: address(request)).text)
        }
        routes.get("schemas", ":name", as: Self.schema) { request in
            let name = request.parameters["name"].flatMap { $0.hasSuffix(".json") ? String($0.dropLast(5)) : nil }
            guard let schemas = name.flatMap({ SocketSchemas.all[$0] }) else {
                throw Abort(
                    .notFound,
                    reason: "There is no such schema. The schemas are \(Self.schemaFiles.joined(separator: ", ")).")
            }
            return .json(schemas.json)
        }
        let described = routes.described
        table.withLock { $0 = described }
    }

    /// As whoever asks reaches it, who may be behind another name than the public one.
    private func address(_ request: Request) -> String {
        guard let host = request.head.headers.value("Host"), !host.isEmpty else { return publicURL ?? "" }
        return "\(request.isSecure ? "https" : "http")://\(host)"
    }

    private static let openAPI = RouteDescription(
        "What the routes are", answers: [.json("OpenAPI 3.1", .object([.member("openapi", .text())]))],
        example: "/openapi.json")

    private static let schemaFiles = SocketSchemas.all.keys.sorted().map { "\($0).json" }

    private static let schema = RouteDescription(
        "What is said on WebSockets",
        parameters: [.path("name", "Which of them.", .words(schemaFiles))],
        answers: [
            .json("a JSON Schema", .object([.member("$schema", .text())])),
            .refusal(404, "not_found", meaning: "there is none"),
        ], example: "/schemas/ale.json")

    private static let help = RouteDescription(
        "The commands of curl's", answers: [.other("text", "text/plain")], example: "/help")
}
