/// Header fields in the order in which they go over the wire, repeated ones included; names match in any case.
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

    /// The values of all fields of that name, in order.
    package func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The value of the first field of that name.
    package subscript(name: String) -> String? { values(of: name).first }

    /// The comma-separated members of all fields of that name, lower-cased, as `Connection` and `Upgrade` have them.
    package func tokens(of name: String) -> [String] {
        values(of: name).flatMap { $0.split(separator: ",") }.map { $0.trimmed.lowercased() }
    }
}

extension Substring {
    /// Without the blanks and tabs at both ends (RFC 9110 §5.6.3, OWS).
    var trimmed: Substring {
        var rest = self
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
