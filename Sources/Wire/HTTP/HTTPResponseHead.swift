/// A field of an answer.
package struct HTTPField: Sendable, Hashable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The head of an answer, before it is bytes.
package struct HTTPResponseHead: Sendable, Hashable {
    package var status: HTTPStatus
    /// In the order in which they are sent.
    package var fields: [HTTPField]

    package init(status: HTTPStatus, fields: [HTTPField] = []) {
        self.status = status
        self.fields = fields
    }

    /// The first field called `name`, in either case. Setting replaces it and removes any others; `nil` removes them all.
    package subscript(name: String) -> String? {
        get { fields.first { Self.areSame($0.name, name) }?.value }
        set {
            let index = fields.firstIndex { Self.areSame($0.name, name) }
            fields.removeAll { Self.areSame($0.name, name) }
            if let newValue { fields.insert(HTTPField(name, newValue), at: min(index ?? fields.count, fields.count)) }
        }
    }

    private static func areSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count
            && zip(one.utf8, other.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
    }
}
