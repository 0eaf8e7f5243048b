/// Checks whether a value matches a JSON Schema (2020-12). Supports only the keywords that our schemas use.
///
/// It is stricter than the standard in one thing: an object with described members must have no others. Clients ignore
/// unknown members, but the server must describe all that it sends.
package struct SchemaCheck: Sendable {
    private let root: SchemaNode
    private let definitions: [String: SchemaNode]

    /// - Parameter document: The OpenAPI document that has the schema, whose `components` it may refer to.
    /// - Throws: An error for an unknown keyword, type or format.
    package init(_ schema: TestJSON, in document: TestJSON = [:]) throws {
        root = try SchemaNode(schema, at: "#")
        var definitions: [String: SchemaNode] = [:]
        for (place, named) in [
            ("#/$defs", schema["$defs"]), ("#/components/schemas", document["components"]["schemas"]),
        ] {
            for (name, definition) in named.object ?? [:] {
                definitions["\(place)/\(name)"] = try SchemaNode(definition, at: "\(place)/\(name)")
            }
        }
        self.definitions = definitions
    }

    /// Returns what is wrong with a value; `nil` if it matches.
    ///
    /// - Parameter definition: The name in `$defs` to match; by default the whole schema.
    package func violation(about value: TestJSON, as definition: String? = nil) -> String? {
        let node = definition.map { SchemaNode.reference("#/$defs/\($0)") } ?? root
        return violation(value, node, "").map { "\($0.place.isEmpty ? "it" : $0.place) \($0.text)" }
    }

    private struct Violation {
        let place: String
        let text: String
        /// The value is a string, but not an allowed one. Then the sender probably meant another message.
        var isOfEnumeration = false
    }

    private func violation(_ value: TestJSON, _ node: SchemaNode, _ place: String) -> Violation? {
        func failure(_ text: String) -> Violation { Violation(place: place, text: text) }
        switch node {
        case .anything: return nil
        case .reference(let name):
            guard let node = definitions[name] else { return failure("is to be \(name), which isn't there") }
            return violation(value, node, place)
        case .either(let nodes):
            let violations = nodes.map { violation(value, $0, place) }
            if violations.contains(where: { $0 == nil }) { return nil }
            return violations.compactMap(\.self).first { !$0.isOfEnumeration } ?? failure("is none of what it may be")
        case .words(let words):
            guard value.string.map(words.contains) != true else { return nil }
            return Violation(place: place, text: "is none of \(words)", isOfEnumeration: true)
        case .boolean: return value.bool == nil ? failure("is no boolean") : nil
        case .number(let isWhole, let range):
            guard let number = value.number else { return failure("is no number") }
            if isWhole, number.rounded() != number { return failure("is no integer") }
            return range.contains(number) ? nil : failure("isn't within \(range)")
        case .text(let length, let format, let pattern):
            guard let text = value.string else { return failure("is no string") }
            return fault(text, length, format, pattern).map(failure)
        case .array(let element, let most):
            guard let elements = value.array else { return failure("is no array") }
            guard elements.count <= most else { return failure("has \(elements.count) elements, \(most) at most") }
            for (index, value) in elements.enumerated() {
                if let violation = violation(value, element, "\(place)/\(index)") { return violation }
            }
            return nil
        case .object(let named, let required, let others):
            guard let members = value.object else { return failure("is no object") }
            // Checks the named members first. If several objects are possible, a wrong word shows that this isn't the one.
            for (name, node) in named.sorted(by: { $0.key < $1.key }) {
                guard let value = members[name] else { continue }
                if let violation = violation(value, node, "\(place)/\(name)") { return violation }
            }
            if let missing = required.first(where: { members[$0] == nil }) { return failure("has no \(missing)") }
            for (name, value) in members.sorted(by: { $0.key < $1.key }) where named[name] == nil {
                guard let others else { return failure("has \(name), which isn't described") }
                if let violation = violation(value, others, "\(place)/\(name)") { return violation }
            }
            return nil
        }
    }

    private func fault(_ text: String, _ length: ClosedRange<Int>, _ format: SchemaFormat?, _ pattern: String?)
        -> String?
    {
        guard length.contains(text.unicodeScalars.count) else { return "isn't \(length) characters long" }
        if let format, !format.fits(text) { return "is no \(format.rawValue): \(text)" }
        guard let pattern else { return nil }
        guard let regex = try? Regex(pattern) else { return "has a pattern that is none" }
        return text.firstMatch(of: regex) == nil ? "isn't like \(pattern): \(text)" : nil
    }
}
