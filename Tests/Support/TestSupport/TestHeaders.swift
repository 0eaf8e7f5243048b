/// Header fields in the order in which they are sent, repeated ones included. Names ignore case.
package struct TestHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [Field]

    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Returns the values of all fields with that name, in order.
    package func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The value of the first field with that name.
    package subscript(name: String) -> String? { values(of: name).first }

    /// Returns the comma-separated members of all fields with that name in lower case, as for `Connection` and
    /// `Upgrade`.
    package func tokens(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { $0.trimmed.lowercased() }
    }
}

extension Substring {
    /// The text without spaces and tabs at both ends (RFC 9110 §5.6.3, OWS).
    var trimmed: Substring {
        var rest = self
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
