package import Wire

/// What a route is, for those who use it: it stands where the route is registered, and the server shows it.
package struct RouteDescription: Sendable {
    /// A few words: "Promise to start something".
    package let summary: String
    /// More of it, in sentences.
    package let details: String?
    /// Of the path, the query and the head.
    package let parameters: [Parameter]
    package let body: Body?
    package let answers: [Answer]
    /// What follows `curl` and the server's address: the path, then flags. The body's own example follows.
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

    package struct Parameter: Sendable {
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

    /// What is sent along. JSON in any case.
    package struct Body: Sendable {
        package let schema: JSONSchema
        package let form: JSONSchema?
        /// JSON. A test plays it.
        package let example: String

        package init(_ schema: JSONSchema, form: JSONSchema? = nil, example: String) {
            self.schema = schema
            self.form = form
            self.example = example
        }

        /// Nothing at all is read as an empty form, where there may be one; it will do where nothing has to stand in it.
        package var isRequired: Bool { form.map(\.demandsMembers) ?? true }
    }

    /// A status, what it means, and what comes with it.
    package struct Answer: Sendable {
        package enum Content: Sendable {
            case json(JSONSchema)
            /// Of another type.
            case other(String)
            case none
            /// `{"error": true, "code": …, "reason": …}` with one of these codes.
            case refusal([String])
        }

        package let status: Int
        package let meaning: String
        package let content: Content

        /// - Parameter meaning: A few words.
        package static func json(_ status: Int, _ meaning: String, _ schema: JSONSchema) -> Answer {
            Answer(status: status, meaning: meaning, content: .json(schema))
        }

        /// `200`.
        package static func json(_ meaning: String, _ schema: JSONSchema) -> Answer { json(200, meaning, schema) }

        /// `200`, with content of that type.
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

/// A route as it is shown.
package struct DescribedRoute: Sendable {
    package let method: String
    /// `/task/{id}`.
    package let path: String
    package let isWebSocket: Bool
    /// Whether it has something new kept for long, which an address may only so often a day.
    package let registers: Bool
    /// `nil`: nobody has said what it is.
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
