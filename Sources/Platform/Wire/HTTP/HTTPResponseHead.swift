/// The head of a response that was read (RFC 9112 §4).
package struct HTTPResponseHead: Sendable, Hashable {
    package let status: HTTPStatus
    /// In their order; names as they were sent, values without the white space around them.
    package let fields: [HTTPField]

    package init(status: HTTPStatus, fields: [HTTPField]) {
        self.status = status
        self.fields = fields
    }

    /// The values of all fields called `name`, in either case.
    package func values(_ name: StaticString) -> [String] {
        fields.filter { field in
            Array(field.name.utf8).withUnsafeBytes { $0.equalsIgnoringCase(name) }
        }.map(\.value)
    }

    /// The value of the field called `name`, if there is exactly one.
    package func value(_ name: StaticString) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    /// Whether `token` is an element of the comma-separated lists in the fields called `name`, in either case.
    package func contains(_ name: StaticString, token: StaticString) -> Bool {
        values(name).contains { value in
            Array(value.utf8).withUnsafeBytes { bytes in
                var found = false
                bytes.forEachListElement(in: 0..<bytes.count) { if $0.equalsIgnoringCase(token) { found = true } }
                return found
            }
        }
    }
}

/// A response that can't be read; nothing on its connection can be trusted after it.
package enum HTTPResponseError: Error, Hashable {
    /// RFC 9112 §4: a response begins with HTTP/1.1 SP status SP reason.
    case badStatusLine
    /// What is wrong with a field, with a chunk, or with how much there is.
    case malformed(HTTPParseError)
    /// RFC 9110 §15.2: more of them than one answer needs.
    case tooManyInterimHeads
    /// RFC 9112 §8: the connection ended before the response did.
    case cutShort
}
