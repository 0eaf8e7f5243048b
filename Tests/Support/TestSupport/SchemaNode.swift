import Foundation

/// A parsed JSON Schema: the kinds of values that it accepts.
indirect enum SchemaNode: Sendable {
    case text(length: ClosedRange<Int>, format: SchemaFormat?, pattern: String?)
    case number(isWhole: Bool, range: ClosedRange<Double>)
    case boolean
    case words([String])
    case array(SchemaNode, most: Int)
    /// - Parameter others: The schema of members that aren't named; `nil` if none are allowed.
    case object([String: SchemaNode], required: [String], others: SchemaNode?)
    case either([SchemaNode])
    case reference(String)
    case anything

    /// - Throws: An error for anything that our schemas don't use, so that no value passes because a keyword was
    ///   ignored.
    init(_ json: TestJSON, at path: String) throws(ClientFailure) {
        guard let object = json.object else { throw .misuse("\(path) is no schema") }
        var members = Members(object, path)
        members.passOver("description", "title", "$schema", "$defs")
        if let name = try members.take("$ref", \.string) {
            self = .reference(name)
        } else if let schemas = try members.take("anyOf", \.array) {
            self = .either(try Self.read(schemas, path + "/anyOf"))
        } else if let words = try members.take("enum", \.array) {
            self = .words(words.compactMap(\.string))
        } else if let type = try members.take("type", \.string) {
            self = try Self.read(type, &members, path)
        } else {
            self = .anything
        }
        try members.expectNoMore()
    }

    private static func read(_ schemas: [TestJSON], _ path: String) throws(ClientFailure) -> [SchemaNode] {
        var nodes: [SchemaNode] = []
        for (index, schema) in schemas.enumerated() { nodes.append(try SchemaNode(schema, at: "\(path)/\(index)")) }
        return nodes
    }

    private static func read(_ type: String, _ members: inout Members, _ path: String) throws(ClientFailure)
        -> SchemaNode
    {
        switch type {
        case "string":
            let least = try members.take("minLength", \.int) ?? 0
            let most = try members.take("maxLength", \.int) ?? .max
            let format = try members.take("format", \.string)
            guard format == nil || SchemaFormat(rawValue: format ?? "") != nil else {
                throw .misuse("\(path) has the unknown format \(format ?? "")")
            }
            return .text(
                length: least...most, format: format.flatMap(SchemaFormat.init),
                pattern: try members.take("pattern", \.string))
        case "integer", "number":
            let least = try members.take("minimum", \.number) ?? -.infinity
            let most = try members.take("maximum", \.number) ?? .infinity
            return .number(isWhole: type == "integer", range: least...most)
        case "boolean": return .boolean
        case "array":
            let most = try members.take("maxItems", \.int) ?? .max
            let items = try members.take("items", { $0 }) ?? [:]
            return .array(try SchemaNode(items, at: "\(path)/items"), most: most)
        case "object":
            let required = try members.take("required", \.array) ?? []
            var named: [String: SchemaNode] = [:]
            for (name, schema) in try members.take("properties", \.object) ?? [:] {
                named[name] = try SchemaNode(schema, at: "\(path)/\(name)")
            }
            var others: SchemaNode?
            if let schema = try members.take("additionalProperties", { $0 }) {
                others = try SchemaNode(schema, at: path)
            }
            return .object(named, required: required.compactMap(\.string), others: others)
        default: throw .misuse("\(path) has the unknown type \(type)")
        }
    }
}

/// Keywords that haven't been read yet.
private struct Members {
    private var left: [String: TestJSON]
    private let path: String

    init(_ members: [String: TestJSON], _ path: String) {
        left = members
        self.path = path
    }

    mutating func passOver(_ names: String...) {
        for name in names { left[name] = nil }
    }

    mutating func take<Value>(_ name: String, _ read: (TestJSON) -> Value?) throws(ClientFailure) -> Value? {
        guard let json = left.removeValue(forKey: name) else { return nil }
        guard let value = read(json) else { throw .misuse("\(path): \(name) can't be \(json)") }
        return value
    }

    func expectNoMore() throws(ClientFailure) {
        guard left.isEmpty else { throw .misuse("\(path) has unknown keywords: \(left.keys.sorted())") }
    }
}

/// The format of a string, by the standard's names.
enum SchemaFormat: String, Sendable {
    case uuid
    case instant = "date-time"
    case day = "date"
    case uri

    func fits(_ text: String) -> Bool {
        switch self {
        case .uuid: UUID(uuidString: text) != nil
        // An instant in UTC, to the second, as everywhere in our interface.
        case .instant: Self.isInstant(text)
        case .day: Self.isInstant("\(text)T00:00:00Z")
        case .uri: URL(string: text)?.scheme != nil
        }
    }

    /// Whether the text is an existing instant in our format: it is parsed and written back unchanged.
    private static func isInstant(_ text: String) -> Bool {
        (try? Date(text, strategy: .iso8601))?.formatted(.iso8601) == text
    }
}
