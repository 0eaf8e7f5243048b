/// An HTTP request, independent of the transport.
struct ClientRequest: Sendable, Hashable {
    var method = "GET"
    /// The path and query below the server's ``ServerAddress/path``, percent-encoded.
    var target: String
    /// The header fields, with names in lower case.
    var fields: [ClientField] = []
    var body: [UInt8]?
}

/// A header field.
struct ClientField: Sendable, Hashable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// An HTTP response. The body is empty if the transport doesn't report it.
struct ClientResponse: Sendable, Hashable {
    var status: Int
    /// The header fields, with names in lower case.
    var fields: [ClientField] = []
    var body: [UInt8] = []

    /// Returns the value of the header field `name` if the response has exactly one such field. `name` is in lower
    /// case.
    func value(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }
}

/// Returns a query parameter's value with all characters escaped, except letters, digits and `-._~` (RFC 3986 §2.3).
package func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            escaped.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            escaped += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }
    }
    return escaped
}
