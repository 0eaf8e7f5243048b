package import Wire

/// The description of a route for developers of clients. It is written next to the route's registration, and the server
/// publishes it.
package struct RouteDescription: Sendable {
    /// A few words, such as "Promise to start something".
    package let summary: String
    /// Further sentences.
    package let details: String?
    /// Parameters in the path, the query and the head.
    package let parameters: [Parameter]
    package let body: Body?
    package let answers: [Answer]
    /// The text after `curl` and the server's address: the path, and then flags. The example of the body is appended.
    package let example: String?

    package init(
        _ summary: String, details: String? = nil, parameters: [Parameter] = [], body: Body? = nil, answers: [Answer],
        example: String? = nil
    ) {
        self.summary = summary
        self.details = details
        self.parameters = parameters
        self.body = body
        self.answers = answers
        self.example = example
    }

    package struct Parameter: Sendable, Hashable {
        package enum Place: String, Sendable { case path, query, header }

        package let name: String
        package let place: Place
        package let isRequired: Bool
        package let meaning: String
        package let schema: JSONSchema

        package static func path(_ name: String, _ meaning: String, _ schema: JSONSchema) -> Parameter {
            Parameter(name: name, place: .path, isRequired: true, meaning: meaning, schema: schema)
        }

        package static func query(_ name: String, _ meaning: String, _ schema: JSONSchema) -> Parameter {
            Parameter(name: name, place: .query, isRequired: true, meaning: meaning, schema: schema)
        }

        package static func optional(_ name: String, _ meaning: String, _ schema: JSONSchema) -> Parameter {
            Parameter(name: name, place: .query, isRequired: false, meaning: meaning, schema: schema)
        }

        package static func header(_ name: String, _ meaning: String, _ schema: JSONSchema) -> Parameter {
            Parameter(name: name, place: .header, isRequired: false, meaning: meaning, schema: schema)
        }
    }

    /// The content of a request, which is always JSON.
    package struct Body: Sendable {
        package let schema: JSONSchema
        package let form: JSONSchema?
        /// An example in JSON. A test sends it to the server.
        package let example: String

        package init(_ schema: JSONSchema, form: JSONSchema? = nil, example: String) {
            self.schema = schema
            self.form = form
            self.example = example
        }

        /// Whether a request needs content. Empty content counts as an empty form, which is enough if no field is
        /// required.
        package var isRequired: Bool { form.map(\.demandsMembers) ?? true }
    }

    /// A possible answer: a status, its meaning, and its content.
    package struct Answer: Sendable {
        package enum Content: Sendable {
            case json(JSONSchema)
            /// Content of another media type, which is the associated value.
            case other(String)
            case none
            /// `{"error": true, "code": …, "reason": …}` with one of these codes.
            case refusal([String])
        }

        package let status: Int
        package let meaning: String
        package let content: Content

        /// - Parameter meaning: A description in a few words.
        package static func json(_ status: Int, _ meaning: String, _ schema: JSONSchema) -> Answer {
            Answer(status: status, meaning: meaning, content: .json(schema))
        }

        /// Returns an answer with status `200` and JSON content.
        package static func json(_ meaning: String, _ schema: JSONSchema) -> Answer { json(200, meaning, schema) }

        /// Returns an answer with status `200` and content of this media type.
        package static func other(_ meaning: String, _ type: String) -> Answer {
            Answer(status: 200, meaning: meaning, content: .other(type))
        }

        package static func nothing(_ status: Int, _ meaning: String) -> Answer {
            Answer(status: status, meaning: meaning, content: .none)
        }

        package static func refusal(_ status: Int, _ codes: String..., meaning: String) -> Answer {
            Answer(status: status, meaning: meaning, content: .refusal(codes))
        }
    }
}

/// The published facts of a route: method, path, and description.
package struct DescribedRoute: Sendable {
    package let method: String
    /// The path in the form `/task/{id}`.
    package let path: String
    package let isWebSocket: Bool
    /// Whether the route's requests store something for a long time. For these requests, each address has a daily
    /// limit.
    package let registers: Bool
    /// The description of the route, or `nil` if it has none.
    package let description: RouteDescription?
}

extension Route {
    var described: DescribedRoute {
        let parts = segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .parameter(let name): "{\(name)}"
            }
        }
        let isWebSocket = if case .webSocket = endpoint { true } else { false }
        return DescribedRoute(
            method: method.name, path: "/" + parts.joined(separator: "/"), isWebSocket: isWebSocket,
            registers: registers, description: description)
    }
}
