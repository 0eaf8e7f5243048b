import FoundationEssentials

/// A simple, independent parser of JSON (RFC 8259), by recursive descent into a tree.
indirect enum PlainJSON {
    case object([(name: String, value: PlainJSON)])
    case array([PlainJSON])
    case string(String)
    case number(String)
    case literal(String)

    /// Returns `nil` if `bytes` aren't JSON in UTF-8, or are nested deeper than `depth`.
    init?(_ bytes: [UInt8], depth: Int) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var reader = Reader(rest: text.unicodeScalars[...])
        guard let value = reader.value(depth), reader.next == nil else { return nil }
        self = value
    }

    /// Returns the string of the only member with this name; `nil` if it is missing or isn't a string. Repeated names
    /// have no agreed meaning, which `isUnique` reports.
    func text(_ name: String) -> (isUnique: Bool, text: String?) {
        guard case .object(let members) = self else { return (true, nil) }
        let found = members.filter { $0.name.unicodeScalars.elementsEqual(name.unicodeScalars) }
        guard case .string(let text)? = found.first?.value else { return (found.count < 2, nil) }
        return (found.count < 2, text)
    }

    /// RFC 9562 §4.
    static func uuid(_ text: String?) -> UUID? {
        guard let text else { return nil }
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let digits = Set("0123456789abcdefABCDEF".utf8)
        guard groups.map(\.count) == [8, 4, 4, 4, 12], groups.joined().allSatisfy(digits.contains) else { return nil }
        return UUID(uuidString: text)
    }

    private struct Reader {
        var rest: Substring.UnicodeScalarView

        /// The next character that isn't white space.
        var next: Unicode.Scalar? {
            mutating get {
                rest = rest.drop { [" ", "\t", "\n", "\r"].contains($0) }
                return rest.first
            }
        }

        mutating func take(_ sign: Unicode.Scalar) -> Bool {
            guard next == sign else { return false }
            rest.removeFirst()
            return true
        }

        mutating func value(_ depth: Int) -> PlainJSON? {
            switch next {
            case "{": return list(depth, "{", "}") { $0.member(depth) }.map { .object($0) }
            case "[": return list(depth, "[", "]") { $0.value(depth - 1) }.map { .array($0) }
            case "\"": return string().map { .string($0) }
            default: return word()
            }
        }

        private mutating func list<Element>(
            _ depth: Int, _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ element: (inout Reader) -> Element?
        ) -> [Element]? {
            guard take(open) else { return nil }
            if take(close) { return [] }
            guard depth > 0 else { return nil }
            var elements: [Element] = []
            repeat {
                guard let element = element(&self) else { return nil }
                elements.append(element)
            } while take(",")
            return take(close) ? elements : nil
        }

        private mutating func member(_ depth: Int) -> (name: String, value: PlainJSON)? {
            guard next == "\"", let name = string(), take(":"), let value = value(depth - 1) else { return nil }
            return (name, value)
        }

        /// Half a surrogate pair, which the grammar allows, is read as U+FFFD.
        private mutating func string() -> String? {
            rest.removeFirst()
            var units: [UInt16] = []
            while let scalar = rest.popFirst() {
                switch scalar {
                case "\"": return String(decoding: units, as: UTF16.self)
                case "\\":
                    guard let unit = escape() else { return nil }
                    units.append(unit)
                case _ where scalar.value < 0x20: return nil
                default: units += Array(String(scalar).utf16)
                }
            }
            return nil
        }

        private mutating func escape() -> UInt16? {
            guard let scalar = rest.popFirst() else { return nil }
            let plain: [Unicode.Scalar: UInt16] = [
                "\"": 0x22, "\\": 0x5C, "/": 0x2F, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9,
            ]
            guard scalar == "u" else { return plain[scalar] }
            let digits = String(String.UnicodeScalarView(rest.prefix(4)))
            rest = rest.dropFirst(4)
            guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit) else { return nil }
            return UInt16(digits, radix: 16)
        }

        private mutating func word() -> PlainJSON? {
            let word = String(String.UnicodeScalarView(rest.prefix { !" \t\n\r,]}:".unicodeScalars.contains($0) }))
            rest = rest.dropFirst(word.unicodeScalars.count)
            if ["true", "false", "null"].contains(word) { return .literal(word) }
            let isNumber = word.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil
            return isNumber ? .number(word) : nil
        }
    }
}
