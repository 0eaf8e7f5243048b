import Domain
import Server
import Settings
import Wire

/// The description of the server's routes in OpenAPI 3.1.
struct OpenAPIDocument {
    private static let references = "#/components/"
    private static let schemas = references + "schemas/"

    private let routes: [DescribedRoute]
    private let address: String
    private let maximumBodyBytes: Int
    /// The parameters that several routes share, by their names.
    private let parameters: [String: RouteDescription.Parameter]
    private let examples: AnswerExamples

    /// - Parameter address: The server's address, as the client uses it.
    init(routes: [DescribedRoute], address: String, maximumBodyBytes: Int, examples: AnswerExamples) {
        self.routes = routes
        self.examples = examples
        self.address = address
        self.maximumBodyBytes = maximumBodyBytes
        let all = routes.flatMap { $0.description?.parameters ?? [] }
        let counts = all.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        parameters = Dictionary(all.filter { counts[$0, default: 0] > 1 }.map { ($0.name, $0) }) { first, _ in first }
    }

    var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("openapi", "3.1.0")
            object.name("info")
            object.object { info in
                info.member("title", "Let's Switch")
                info.member("version", ProductVersion.number)
                info.member(
                    "description",
                    """
                    Instants are in UTC, to the second. The server writes UUIDs in capitals and reads them in either \
                    case. In a query, + means a space, as in HTML forms. A body is JSON of at most \
                    \(maximumBodyBytes) bytes. The server ignores unknown members.
                    """)
            }
            object.name("servers")
            object.array { array in array.object { $0.member("url", address) } }
            object.name("paths")
            object.object(writePaths)
            object.name("components")
            object.object { components in
                components.name("schemas")
                components.object(writeSchemas)
                components.name("parameters")
                components.object { object in
                    for (name, parameter) in parameters.sorted(by: { $0.key < $1.key }) {
                        object.name(name)
                        object.object { write(parameter, to: &$0) }
                    }
                }
                components.name("responses")
                components.object { responses in
                    for answer in RouteDescription.common {
                        responses.name("\(answer.status)")
                        responses.object { write([answer], example: nil, to: &$0) }
                    }
                }
                components.name("examples")
                components.object(writeErrors)
            }
        }
        return json.bytes
    }

    /// Writes the schemas that the routes share.
    private func writeSchemas(to object: inout JSONText) {
        var shared: [String: JSONSchema] = [:]
        errorSchema.collectShared(into: &shared)
        for description in routes.compactMap(\.description) {
            var schemas = description.parameters.map(\.schema)
            if let body = description.body { schemas += [body.schema, body.form].compactMap(\.self) }
            for case .json(let schema) in description.answers.map(\.content) { schemas.append(schema) }
            for schema in schemas { schema.collectShared(into: &shared) }
        }
        for (name, schema) in shared.sorted(by: { $0.key < $1.key }) {
            object.name(name)
            schema.write(to: &object, references: Self.schemas)
        }
    }

    /// Writes one example for each error code. The answers refer to these examples.
    private func writeErrors(to object: inout JSONText) {
        for (code, bodies) in examples.errors.sorted(by: { $0.key < $1.key }) {
            guard let body = bodies.values.first else { continue }
            object.name(code)
            object.object { example in
                example.name("value")
                example.value(body)
            }
        }
    }

    private var errorSchema: JSONSchema {
        .shared(
            "Error",
            .object([
                .member("error", .boolean), .member("code", .shared("ErrorCode", .enum(examples.errors.keys.sorted()))),
                .member("reason", .text()), .optional("opensAt", .instant),
            ]))
    }

    private func writePaths(to object: inout JSONText) {
        var paths: [String] = []
        for route in routes where !paths.contains(route.path) { paths.append(route.path) }
        for path in paths {
            object.name(path)
            object.object { item in
                for route in routes where route.path == path {
                    let description = route.description ?? .missing
                    item.name(route.method.lowercased())
                    item.object { write(route, description, to: &$0) }
                }
            }
        }
    }

    private func write(_ route: DescribedRoute, _ description: RouteDescription, to object: inout JSONText) {
        object.member("summary", description.summary)
        object.member("description", description.details)
        object.member("operationId", route.operationID)
        if route.isWebSocket { object.member("x-websocket", true) }
        if !description.parameters.isEmpty {
            object.name("parameters")
            object.array { array in
                for parameter in description.parameters {
                    array.object { object in
                        if parameters[parameter.name] == parameter {
                            object.member("$ref", "\(Self.references)parameters/\(parameter.name)")
                        } else {
                            write(parameter, to: &object)
                        }
                    }
                }
            }
        }
        if let body = description.body {
            object.name("requestBody")
            object.object { write(body, to: &$0) }
        }
        object.name("responses")
        object.object { responses in
            for (status, answers) in answers(to: route, description) {
                responses.name("\(status)")
                responses.object { response in
                    if answers.isEmpty {
                        response.member("$ref", "\(Self.references)responses/\(status)")
                    } else {
                        write(answers, example: examples.answers[route.operationID]?[status], to: &response)
                    }
                }
            }
        }
    }

    private func write(_ parameter: RouteDescription.Parameter, to object: inout JSONText) {
        object.member("name", parameter.name)
        object.member("in", parameter.place.rawValue)
        object.member("description", parameter.meaning)
        if parameter.isRequired { object.member("required", true) }
        object.name("schema")
        parameter.schema.write(to: &object, references: Self.schemas)
    }

    private func write(_ body: RouteDescription.Body, to object: inout JSONText) {
        object.member("required", body.isRequired)
        object.name("content")
        object.object { content in
            content.name("application/json")
            content.object { media in
                media.name("schema")
                body.schema.write(to: &media, references: Self.schemas)
                media.name("example")
                media.value(body.example.utf8)
            }
            guard let form = body.form else { return }
            content.name("application/x-www-form-urlencoded")
            content.object { media in
                media.name("schema")
                form.write(to: &media, references: Self.schemas)
            }
        }
    }

    /// Returns the route's own answers and the common answers by status. An empty array means the common answer of that
    /// status.
    private func answers(
        to route: DescribedRoute, _ description: RouteDescription
    ) -> [(status: Int, answers: [RouteDescription.Answer])] {
        let own = description.answers + RouteDescription.ofEdge(route)
        let common = RouteDescription.common
        return Set((own + common).map(\.status)).sorted().map { status in
            guard own.contains(where: { $0.status == status }) else { return (status, []) }
            return (status, (own + common).filter { $0.status == status })
        }
    }

    /// Writes references to the examples of these codes.
    private func write(_ codes: [String], to examples: inout JSONText) {
        for code in codes {
            examples.name(code)
            examples.object { $0.member("$ref", "\(Self.references)examples/\(code)") }
        }
    }

    /// Writes all answers of one status.
    private func write(_ answers: [RouteDescription.Answer], example: [UInt8]?, to object: inout JSONText) {
        var (schemas, codes, type): ([JSONSchema], [String], String?) = ([], [], nil)
        for answer in answers {
            switch answer.content {
            case .json(let schema): schemas.append(schema)
            case .refusal(let more): codes += more.filter { !codes.contains($0) }
            case .other(let other): type = other
            case .none: break
            }
        }
        // All errors share a schema, and the description names the codes of this answer.
        let remark = codes.isEmpty ? [] : ["Codes: \(codes.joined(separator: ", "))."]
        object.member(
            "description", ([answers.map(\.meaning).joined(separator: " Or: ")] + remark).joined(separator: " "))
        if !codes.isEmpty { schemas.append(errorSchema) }
        guard !schemas.isEmpty || type != nil else { return }
        object.name("content")
        object.object { content in
            if let schema = schemas.count > 1 ? .either(schemas) : schemas.first {
                content.name("application/json")
                content.object { media in
                    media.name("schema")
                    schema.write(to: &media, references: Self.schemas)
                    if let example {
                        media.name("example")
                        media.value(example)
                    } else if !codes.isEmpty {
                        media.name("examples")
                        media.object { write(codes, to: &$0) }
                    }
                }
            }
            if let type {
                content.name(type)
                content.object { _ in }
            }
        }
    }
}

extension RouteDescription {
    /// The description of a route that has none. A test fails if there is such a route.
    fileprivate static let missing = RouteDescription("", answers: [])
}

extension DescribedRoute {
    /// The operation's id, such as `getQuestionsSessionList` for `GET /questions/{session}/list`.
    var operationID: String {
        let words = path.split { !$0.isLetter && !$0.isNumber }
        return method.lowercased() + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
