/// The parsed head of a response (RFC 9112 §4).
package struct HTTPResponseHead: Sendable, Hashable {
    package let status: HTTPStatus
    /// The fields in order. Names are as they were sent, and values have no white space at the beginning and end.
    package let fields: [HTTPField]

    package init(status: HTTPStatus, fields: [HTTPField]) {
        self.status = status
        self.fields = fields
    }

    /// Returns the values of all fields `name`, ignoring case.
    package func values(_ name: StaticString) -> [String] {
        fields.filter { field in
            Array(field.name.utf8).withUnsafeBytes { $0.equalsIgnoringCase(name) }
        }.map(\.value)
    }

    /// Returns the value of the field `name`, if there is exactly one.
    package func value(_ name: StaticString) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    /// Whether `token` is an element of the comma-separated lists in the fields `name`, ignoring case.
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

/// The error for a response that can't be parsed. The rest of the connection can't be parsed either.
package enum HTTPResponseError: Error, Hashable {
    /// The response doesn't begin with `HTTP/1.x SP status SP reason` (RFC 9112 §4).
    case badStatusLine
    /// An error in a field or chunk, or a limit that was exceeded.
    case malformed(HTTPParseError)
    /// The server sent too many interim responses (RFC 9110 §15.2).
    case tooManyInterimHeads
    /// The connection ended before the response was complete (RFC 9112 §8).
    case cutShort
}
