/// Writes JSON (RFC 8259). The members of an object have the given order, and absent members are left out.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    package mutating func object(_ body: (inout JSONText) -> Void) {
        nested(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    package mutating func array(_ body: (inout JSONText) -> Void) {
        nested(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    /// Writes a member's name. The caller must write its value next.
    package mutating func name(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        self.name(name)
        string(value)
    }

    package mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
        needsComma = true
    }

    package mutating func member(_ name: String, _ value: Int) {
        self.name(name)
        separate()
        bytes.append(contentsOf: String(value).utf8)
        needsComma = true
    }

    /// - Parameter value: A finite number less than 10¹⁶, so that it needs no exponent.
    package mutating func member(_ name: String, _ value: Double) {
        self.name(name)
        separate()
        bytes.append(contentsOf: "\(value)".utf8)
        needsComma = true
    }

    package mutating func number(_ number: Int) {
        separate()
        bytes.append(contentsOf: String(number).utf8)
        needsComma = true
    }

    /// - Parameter number: A finite number less than 10¹⁶, as in ``member(_:_:)``.
    package mutating func number(_ number: Double) {
        separate()
        bytes.append(contentsOf: "\(number)".utf8)
        needsComma = true
    }

    package mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
        needsComma = true
    }

    /// Appends a value that is already encoded as JSON.
    package mutating func value(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    package mutating func string(_ text: String) {
        separate()
        Self.append(string: text.utf8, to: &bytes)
        needsComma = true
    }

    /// Appends a string. The text is given in UTF-8.
    static func append(string text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if text.withContiguousStorageIfAvailable({ append(escaping: $0, to: &bytes) }) == nil {
            Array(text).withUnsafeBufferPointer { append(escaping: $0, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends text with escapes. Bytes that need no escape, usually all, are appended in one piece.
    private static func append(escaping text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var plain = 0
        for (index, byte) in text.enumerated() where needsEscape(byte) {
            bytes.append(contentsOf: text[plain..<index])
            bytes.append(contentsOf: escape(byte).utf8)
            plain = index + 1
        }
        bytes.append(contentsOf: text[plain...])
    }

    /// Whether a byte needs an escape (RFC 8259 §7): a quotation mark, a backslash or a control character.
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func escape(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case UInt8(ascii: "\n"): "\\n"
        case UInt8(ascii: "\r"): "\\r"
        case UInt8(ascii: "\t"): "\\t"
        default: (byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16)
        }
    }

    private mutating func nested(_ open: UInt8, _ close: UInt8, _ body: (inout JSONText) -> Void) {
        separate()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }
}
