/// A JSON Schema (2020-12), limited to what the server's published messages need.
package indirect enum JSONSchema: Sendable, Hashable {
    /// - Parameter length: The permitted number of Unicode scalars.
    case text(length: ClosedRange<Int>? = nil, format: String? = nil, pattern: String? = nil)
    case integer(ClosedRange<Int>? = nil)
    case number
    case boolean
    /// A string that is one of these.
    case `enum`([String])
    case array(JSONSchema, most: Int? = nil)
    /// An object with these members. It may have others.
    case object([Member])
    /// An object with arbitrary names. All values have this schema.
    case map(JSONSchema)
    case either([JSONSchema])
    /// A reference to a named schema.
    case named(String)
    /// A schema that a document defines once, under this name, and refers to elsewhere.
    case shared(String, JSONSchema)
    /// A schema with a description.
    case described(String, JSONSchema)
    case anything

    package struct Member: Sendable, Hashable {
        let name: String
        let schema: JSONSchema
        let isRequired: Bool

        package static func member(_ name: String, _ schema: JSONSchema) -> Member {
            Member(name: name, schema: schema, isRequired: true)
        }

        /// A member that may be absent.
        package static func optional(_ name: String, _ schema: JSONSchema) -> Member {
            Member(name: name, schema: schema, isRequired: false)
        }
    }

    /// Whether this is an object with at least one required member.
    package var demandsMembers: Bool {
        guard case .object(let members) = self else { return false }
        return members.contains(where: \.isRequired)
    }

    /// Adds the shared schemas in this schema to `schemas`, by their names.
    package func collectShared(into schemas: inout [String: JSONSchema]) {
        switch self {
        case .shared(let name, let schema):
            guard schemas.updateValue(schema, forKey: name) == nil else { return }
            schema.collectShared(into: &schemas)
        case .object(let members):
            for member in members { member.schema.collectShared(into: &schemas) }
        case .either(let choices):
            for choice in choices { choice.collectShared(into: &schemas) }
        case .array(let schema, _), .map(let schema), .described(_, let schema):
            schema.collectShared(into: &schemas)
        case .text, .integer, .number, .boolean, .enum, .named, .anything: break
        }
    }

    /// - Parameter references: The beginning of references, such as `#/components/schemas/`, with a slash at the end.
    package func write(to json: inout JSONText, references: String) {
        json.object { writeMembers(to: &$0, references: references) }
    }

    package func writeMembers(to object: inout JSONText, references: String) {
        switch self {
        case .text(let length, let format, let pattern):
            object.member("type", "string")
            if let length {
                if length.lowerBound > 0 { object.member("minLength", length.lowerBound) }
                object.member("maxLength", length.upperBound)
            }
            object.member("format", format)
            object.member("pattern", pattern)
        case .integer(let range):
            object.member("type", "integer")
            if let range {
                object.member("minimum", range.lowerBound)
                if range.upperBound < .max { object.member("maximum", range.upperBound) }
            }
        case .number:
            object.member("type", "number")
        case .boolean:
            object.member("type", "boolean")
        case .enum(let values):
            object.name("enum")
            object.array { array in for value in values { array.string(value) } }
        case .array(let element, let most):
            object.member("type", "array")
            object.name("items")
            element.write(to: &object, references: references)
            if let most { object.member("maxItems", most) }
        case .object(let members):
            write(members, to: &object, references: references)
        case .map(let value):
            object.member("type", "object")
            object.name("additionalProperties")
            value.write(to: &object, references: references)
        case .either(let schemas):
            object.name("anyOf")
            object.array { array in for schema in schemas { schema.write(to: &array, references: references) } }
        case .named(let name), .shared(let name, _):
            object.member("$ref", references + name)
        case .described(let sentence, let schema):
            object.member("description", sentence)
            schema.writeMembers(to: &object, references: references)
        case .anything:
            break
        }
    }

    private func write(_ members: [Member], to object: inout JSONText, references: String) {
        object.member("type", "object")
        let required = members.filter(\.isRequired)
        if !required.isEmpty {
            object.name("required")
            object.array { array in for member in required { array.string(member.name) } }
        }
        object.name("properties")
        object.object { properties in
            for member in members {
                properties.name(member.name)
                member.schema.write(to: &properties, references: references)
            }
        }
    }
}
