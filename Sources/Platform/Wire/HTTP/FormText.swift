/// The content of an HTML form (WHATWG URL §5.1): `name=value` pairs between ampersands. A `+` means a space, and other
/// characters may be escaped.
package struct FormText: Sendable {
    private let fields: [(name: String, value: String)]

    /// The maximum number of fields. The server's own forms have only a few.
    private static let limit = 64

    /// Decodes a body. Returns `nil` if an escape is invalid or the decoded text isn't UTF-8.
    package init?(_ body: [UInt8]) {
        var fields: [(name: String, value: String)] = []
        let isRight = body.withUnsafeBytes { bytes in
            guard PercentEncoding.fault(in: bytes) == nil, UTF8Validator.isValid(bytes) else { return false }
            var start = 0
            while start < bytes.count, fields.count < Self.limit {
                let end = bytes.firstOffset(of: UInt8(ascii: "&"), in: start..<bytes.count) ?? bytes.count
                if start < end {
                    let equals = bytes.firstOffset(of: UInt8(ascii: "="), in: start..<end)
                    let value = bytes.part((equals.map { $0 + 1 } ?? end)..<end)
                    fields.append(
                        (
                            PercentEncoding.decode(bytes.part(start..<(equals ?? end)), plusIsSpace: true),
                            PercentEncoding.decode(value, plusIsSpace: true)
                        ))
                }
                start = end + 1
            }
            return true
        }
        guard isRight else { return nil }
        self.fields = fields
    }

    /// The value of the first field with exactly this name.
    package subscript(name: String) -> String? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}
