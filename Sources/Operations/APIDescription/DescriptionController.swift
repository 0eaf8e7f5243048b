import Basics
package import Features
import Notifications
package import Server
package import Settings
import Wire

/// Serves `/openapi.json`, `/help` and `/schemas/…`, which describe the routes and their messages. The controller
/// describes only routes that were registered before it, so it must be registered last.
package struct DescriptionController: RouteCollection {
    /// The server's public address. If it is `nil`, the documents use the request's `Host`.
    private let publicURL: String?
    private let maximumBodyBytes: Int
    private let schemas: [MessageSchemas]
    private let examples: AnswerExamples
    private let table = Locked<[DescribedRoute]>([])

    /// - Parameter features: The features that are on.
    package init(_ configuration: Configuration, features: [any Feature.Type]) {
        publicURL = configuration.providers.publicURL
        maximumBodyBytes = configuration.limits.http.bodyBytes
        schemas = MessageSchemas.documents(of: features.map { $0.messages })
        examples = AnswerExamples(features.compactMap { $0.examples })
    }

    package func boot(routes: RoutesBuilder) {
        routes.get("openapi.json", as: Self.openAPI) { request in
            let document = OpenAPIDocument(
                routes: table.withLock { $0 }, address: address(request), maximumBodyBytes: maximumBodyBytes,
                examples: examples)
            return .json(document.json)
        }
        routes.get("help", as: Self.help) { request in
            .text(HelpPage(routes: table.withLock { $0 }, address: address(request)).text)
        }
        routes.get("schemas", ":name", as: schema) { request in
            let name = request.parameters["name"].flatMap { $0.hasSuffix(".json") ? String($0.dropLast(5)) : nil }
            guard let schemas = schemas.first(where: { $0.name == name }) else {
                throw Abort(
                    .notFound,
                    reason: "There is no such schema. The schemas are \(schemaFiles.joined(separator: ", ")).")
            }
            return .json(schemas.json)
        }
        let described = routes.described
        table.withLock { $0 = described }
    }

    /// Returns the address that this client uses, which may differ from the public one.
    private func address(_ request: Request) -> String {
        guard let host = request.head.headers.value("Host"), !host.isEmpty else { return publicURL ?? "" }
        return "\(request.isSecure ? "https" : "http")://\(host)"
    }

    private static let openAPI = RouteDescription(
        "Get this description", answers: [.json("The routes as OpenAPI 3.1.", .object([.member("openapi", .text())]))],
        example: "/openapi.json")

    private var schemaFiles: [String] { schemas.map { "\($0.name).json" }.sorted() }

    private var schema: RouteDescription {
        RouteDescription(
            "Get a JSON Schema of WebSocket messages or events",
            parameters: [.path("name", "The schema's file name.", .enum(schemaFiles))],
            answers: [
                .json("The JSON Schema.", .object([.member("$schema", .text())])),
                .refusal(404, "not_found", meaning: "There is no such schema."),
            ], example: "/schemas/ale.json")
    }

    private static let help = RouteDescription(
        "List curl commands for the routes", answers: [.other("The commands.", "text/plain")], example: "/help")
}
