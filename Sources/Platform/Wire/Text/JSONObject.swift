/// The members of a JSON object (RFC 8259 §4), for code that needs a few of them by name.
///
/// Text consists of UTF-8 bytes without escapes. `String` isn't used, because it treats some names with different bytes
/// as equal. If a name occurs twice, the last member counts, as in JavaScript and Ruby. A single surrogate (§8.2)
/// becomes U+FFFD.
package struct JSONObject: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        /// A string, with its escapes decoded.
        case string([UInt8])
        /// A number, as it is written in the text.
        case number([UInt8])
        case boolean(Bool)
        case null
        /// An array or an object, as it is written in the text.
        case nested([UInt8])
    }

    private struct Member: Sendable, Equatable {
        let name: [UInt8]
        let value: Value
    }

    private var members: [Member] = []

    /// Parses a text. Returns `nil` if it isn't JSON or not an object. O(n), without recursion.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard JSONSyntax.isValid(bytes) else { return nil }
        var scanner = JSONMemberScanner(bytes)
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        // The grammar was checked before, so only valid members follow.
        while scanner.next == UInt8(ascii: "\"") {
            let name = scanner.takeString()
            _ = scanner.take(UInt8(ascii: ":"))
            members.append(Member(name: name, value: scanner.takeValue()))
            guard scanner.take(UInt8(ascii: ",")) else { return }
        }
    }

    package init?(_ bytes: [UInt8]) {
        guard let object = bytes.withUnsafeBytes({ JSONObject($0) }) else { return nil }
        self = object
    }

    /// Returns the value of the member with this name. O(members).
    package subscript(name: StaticString) -> Value? {
        let name = UnsafeRawBufferPointer(name)
        return members.last { $0.name.elementsEqual(name) }?.value
    }

    /// The number of members in the text. A repeated name counts each time.
    package var count: Int { members.count }

    /// All members in the order of their names, for objects with arbitrary names. Of members with the same name, only
    /// the last one is included. O(members).
    package var all: [(name: [UInt8], value: Value)] {
        var all: [(name: [UInt8], value: Value)] = []
        var places: [[UInt8]: Int] = [:]
        for member in members {
            if let place = places[member.name] {
                all[place].value = member.value
            } else {
                places[member.name] = all.count
                all.append((member.name, member.value))
            }
        }
        return all
    }

    /// Returns the bytes of a string member.
    package func string(_ name: StaticString) -> [UInt8]? {
        guard case .string(let bytes)? = self[name] else { return nil }
        return bytes
    }

    /// Returns the text of a string member. A member of another type counts as missing.
    package func text(_ name: StaticString) -> String? {
        string(name).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Scans a text whose grammar was checked before. Every step stays within the bounds of the memory, even for an invalid
/// text.
private struct JSONMemberScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The next byte that isn't white space.
    var next: UInt8? {
        mutating get {
            while position < bytes.count {
                switch bytes[position] {
                case 0x20, 0x09, 0x0A, 0x0D: position += 1
                default: return bytes[position]
                }
            }
            return nil
        }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func takeValue() -> JSONObject.Value {
        switch next {
        case UInt8(ascii: "\""): return .string(takeString())
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .nested(takeNested())
        case UInt8(ascii: "t"): return word(.boolean(true))
        case UInt8(ascii: "f"): return word(.boolean(false))
        case UInt8(ascii: "n"): return word(.null)
        default: return .number(takeWord())
        }
    }

    private mutating func word(_ value: JSONObject.Value) -> JSONObject.Value {
        _ = takeWord()
        return value
    }

    private mutating func takeWord() -> [UInt8] {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D:
                return Array(bytes[start..<position])
            default: position += 1
            }
        }
        return Array(bytes[start..<position])
    }

    private mutating func takeNested() -> [UInt8] {
        let start = position
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                passString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { break }
        }
        return Array(bytes[start..<position])
    }

    private mutating func passString() {
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { break }
        }
        position = min(position, bytes.count)
    }

    /// Takes a string and returns its bytes without escapes (§7).
    mutating func takeString() -> [UInt8] {
        _ = take(UInt8(ascii: "\""))
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): takeEscape(into: &text)
            default: text.append(byte)
            }
        }
        return text
    }

    private mutating func takeEscape(into text: inout [UInt8]) {
        guard position < bytes.count else { return }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: UTF8.encode(takeScalar()) ?? UTF8.encodedReplacementCharacter)
        // A quotation mark, a slash and a backslash stand for themselves after the backslash.
        default: text.append(byte)
        }
    }

    /// Takes the character of `\uXXXX`, or of a pair of these. The first two characters (`\u`) were already skipped.
    private mutating func takeScalar() -> Unicode.Scalar {
        let unit = takeCodeUnit()
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        let mark = position
        guard skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) else {
            position = mark
            return "\u{FFFD}"
        }
        let trail = takeCodeUnit()
        guard UTF16.isTrailSurrogate(trail) else {
            position = mark
            return "\u{FFFD}"
        }
        return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
    }

    private mutating func takeCodeUnit() -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 where position < bytes.count {
            unit = unit << 4 | UInt16(ASCII.hexValue(bytes[position]) ?? 0)
            position += 1
        }
        return unit
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }
}
