package import FoundationEssentials

/// A statement. A connection prepares it at its first use, and then runs it by its name.
package struct PostgresStatement: Sendable, Hashable {
    /// The statement's name, which is unique in the program. PostgreSQL, observers and errors identify the prepared
    /// statement by it. An empty name means that the statement is parsed each time.
    package let name: String
    /// The SQL of one statement, with parameters `$1`, `$2`, …
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// A value for a parameter `$1`, `$2`, … of a statement. Values are sent as text unless a case says otherwise.
/// PostgreSQL infers the type from the statement.
package enum PostgresParameter: Sendable, Hashable {
    case null
    /// A text. If it contains U+0000, which PostgreSQL can't store, it is refused with `.invalidParameter`.
    case text(String)
    case integer(Int)
    case double(Double)
    case boolean(Bool)
    /// An array of any type, as the texts of its elements. A `nil` element is NULL.
    case textArray([String?])
    /// `uuid[]`, sent in binary. A `nil` element is NULL.
    case uuidArray([UUID?])
    /// `double precision[]`, sent in binary.
    case doubleArray([Double])
    /// `integer[]`, sent in binary.
    case int32Array([Int32])
    /// An array of any integer type.
    case integerArray([Int])
}

extension PostgresParameter {
    /// The format of a value.
    enum Format {
        /// NULL.
        case null
        /// The format of PostgreSQL's input functions.
        case text
        /// The format of PostgreSQL's receive functions.
        case binary
    }

    /// Appends the value, and returns its format. A batch has thousands of elements, so elements aren't converted to
    /// strings one by one.
    func write(to bytes: inout [UInt8]) -> Format {
        switch self {
        case .null: return .null
        case .text(let text): bytes += text.utf8
        case .integer(let integer): bytes += String(integer).utf8
        case .double(let double): bytes += Self.text(of: double).utf8
        case .boolean(let boolean): bytes.append(UInt8(ascii: boolean ? "t" : "f"))
        case .textArray(let elements):
            Self.write(elements, to: &bytes) { element, bytes in
                if let element { Self.writeQuoted(element, to: &bytes) } else { bytes += "NULL".utf8 }
            }
        // The string of an integer is short enough to need no allocation.
        case .integerArray(let elements): Self.write(elements, to: &bytes) { $1 += String($0).utf8 }
        case .uuidArray(let elements):
            Self.writeBinary(elements, of: 2950, to: &bytes) { $0?.uuid }
            return .binary
        case .doubleArray(let elements):
            Self.writeBinary(elements, of: 701, to: &bytes) { $0.bitPattern.bigEndian }
            return .binary
        case .int32Array(let elements):
            Self.writeBinary(elements, of: 23, to: &bytes) { $0.bigEndian }
            return .binary
        }
        return .text
    }

    private static func text(of double: Double) -> String {
        if double.isNaN { return "NaN" }
        if double.isInfinite { return double < 0 ? "-Infinity" : "Infinity" }
        return double.description
    }

    /// Writes an array as text (PostgreSQL 15 manual, 8.15.2).
    private static func write<Element>(
        _ elements: [Element], to bytes: inout [UInt8], _ write: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "{"))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(element, &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Writes an element in quotes, so that an empty element or an element `NULL` keeps its meaning. Quotes and
    /// backslashes are escaped.
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

    /// Writes an array in the format of `array_recv`: the number of dimensions, whether elements may be NULL, and the
    /// element type (its number in `pg_type`). The dimension's size and first index follow, and then each element after
    /// its length.
    private static func writeBinary<Element, Value: BitwiseCopyable>(
        _ elements: [Element], of type: Int32, to bytes: inout [UInt8], _ value: (Element) -> Value?
    ) {
        let size = MemoryLayout<Value>.size
        let start = bytes.count
        // One call appends the whole memory, because a call for each byte would check the capacity each time.
        bytes.append(contentsOf: repeatElement(0, count: 20 + elements.count * (4 + size)))
        let end = bytes.withUnsafeMutableBytes { bytes in
            var end = start
            func write(_ number: Int32) {
                bytes.storeBytes(of: number.bigEndian, toByteOffset: end, as: Int32.self)
                end += 4
            }
            write(elements.isEmpty ? 0 : 1)
            write(1)
            write(type)
            guard !elements.isEmpty else { return end }
            write(Int32(clamping: elements.count))
            write(1)
            for element in elements {
                guard let value = value(element) else {
                    write(-1)
                    continue
                }
                write(Int32(size))
                bytes.storeBytes(of: value, toByteOffset: end, as: Value.self)
                end += size
            }
            return end
        }
        bytes.removeLast(bytes.count - end)
    }
}
