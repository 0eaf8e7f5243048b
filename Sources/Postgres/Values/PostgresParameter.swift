package import FoundationEssentials

/// A statement that a connection prepares the first time it runs it, and then runs by name.
package struct PostgresStatement: Sendable, Hashable {
    /// Unique among the statements of a program: PostgreSQL knows the prepared statement by it. Observers and errors
    /// bear it. Empty for a statement that is parsed anew each time.
    package let name: String
    /// One statement, its parameters written `$1`, `$2`, …
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// A value for `$1`, `$2`, … of a statement, sent as text; PostgreSQL infers the type from the statement.
package enum PostgresParameter: Sendable, Hashable {
    case null
    /// Refused with `.invalidParameter` when it contains U+0000, which PostgreSQL can't store.
    case text(String)
    case integer(Int)
    case double(Double)
    case boolean(Bool)
    /// An array of any type, by the text of its elements; `nil` is one that is NULL.
    case textArray([String?])
    /// `nil` is an element that is NULL.
    case uuidArray([UUID?])
    /// Of any type of whole numbers.
    case integerArray([Int])
}

extension PostgresParameter {
    /// Appends the text form that PostgreSQL's input functions read. A batch has thousands of elements: none becomes a string of its
    /// own.
    ///
    /// - Returns: Whether there is a text: NULL has none.
    func write(to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .null: return false
        case .text(let text): bytes += text.utf8
        case .integer(let integer): bytes += String(integer).utf8
        case .double(let double): bytes += Self.text(of: double).utf8
        case .boolean(let boolean): bytes.append(UInt8(ascii: boolean ? "t" : "f"))
        case .textArray(let elements): Self.write(elements, to: &bytes, Self.writeQuoted)
        case .uuidArray(let elements): Self.write(elements, to: &bytes, Self.write)
        // A string of so few characters takes no memory.
        case .integerArray(let elements): Self.write(elements, to: &bytes) { $1 += String($0).utf8 }
        }
        return true
    }

    private static func text(of double: Double) -> String {
        if double.isNaN { return "NaN" }
        if double.isInfinite { return double < 0 ? "-Infinity" : "Infinity" }
        return double.description
    }

    /// PostgreSQL 15 manual, 8.15.2.
    private static func write<Element>(
        _ elements: [Element?], to bytes: inout [UInt8], _ write: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "{"))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if let element { write(element, &bytes) } else { bytes += "NULL".utf8 }
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// In quotes, so that an element that reads `NULL` or is empty stays what it is; quotes and backslashes escaped.
    private static func writeQuoted(_ text: String, to bytes: inout [UInt8]) {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        bytes.append(quote)
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.contains(where: { $0 == quote || $0 == escape }) else {
                return bytes.append(contentsOf: utf8)
            }
            for byte in utf8 {
                if byte == quote || byte == escape { bytes.append(escape) }
                bytes.append(byte)
            }
        }
        bytes.append(quote)
    }

    /// RFC 9562 §4.
    private static func write(_ uuid: UUID, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: uuid.uuid) { octets in
            for (index, octet) in octets.enumerated() {
                switch index {
                case 4, 6, 8, 10: bytes.append(UInt8(ascii: "-"))
                default: break
                }
                bytes.append(hexadecimal(octet >> 4))
                bytes.append(hexadecimal(octet & 15))
            }
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    }
}
