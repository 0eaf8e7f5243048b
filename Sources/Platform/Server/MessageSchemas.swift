package import Wire

/// A JSON Schema document of messages on a WebSocket or of server-sent events, such as `/schemas/ale.json`. It has one
/// `$defs` entry for each sender, or for each event.
package struct MessageSchemas: Sendable {
    /// The document's file name without `.json`.
    package let name: String
    private let title: String
    /// The schemas, by the name of the sender or the event.
    private let parts: [(name: String, schema: JSONSchema)]

    package init(name: String, title: String, parts: [(name: String, schema: JSONSchema)]) {
        self.name = name
        self.title = title
        self.parts = parts
    }

    /// - Parameters:
    ///   - server: The messages that the server sends.
    ///   - client: The messages that the client sends.
    package init(name: String, title: String, server: [JSONSchema], client: [JSONSchema]) {
        self.init(name: name, title: title, parts: [("server", .either(server)), ("client", .either(client))])
    }

    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("$schema", "https://json-schema.org/draft/2020-12/schema")
            object.member("title", title)
            object.name("anyOf")
            object.array { array in
                for part in parts { JSONSchema.named(part.name).write(to: &array, references: "#/$defs/") }
            }
            object.name("$defs")
            object.object { definitions in
                var shared: [String: JSONSchema] = [:]
                for part in parts { part.schema.collectShared(into: &shared) }
                for (name, schema) in parts + shared.sorted(by: { $0.key < $1.key }).map({ ($0.key, $0.value) }) {
                    definitions.name(name)
                    schema.write(to: &definitions, references: "#/$defs/")
                }
            }
        }
        return json.bytes
    }
}

extension JSONSchema {
    /// Returns the schema of a message with this type.
    package static func message(_ type: String, _ members: [Member] = []) -> JSONSchema {
        .object([.member("type", .enum([type]))] + members)
    }
}
