/// Checks whether bytes are a JSON text in UTF-8 (RFC 8259, §8.1).
///
/// Decoders accept more, and not all of them the same: a trailing comma, `01`, a raw line break in a string, UTF-16, an
/// unfinished number. Clients may come to depend on everything that a server accepts. This check therefore runs before
/// decoding.
package struct JSONSyntax {
    /// The maximum nesting depth of arrays and objects.
    package static let maximumDepth = 512

    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Whether `bytes` are one JSON value, with only white space around it. O(n), without recursion.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard UTF8Validator.isValid(bytes) else { return false }
        var syntax = JSONSyntax(bytes)
        return syntax.takeText()
    }

    private mutating func takeText() -> Bool {
        // The bytes that will close the open arrays and objects. The innermost is the last.
        var closers: [UInt8] = []
        while let isWhole = beginValue(&closers) {
            if isWhole {
                guard let isOver = endValue(&closers) else { return false }
                if isOver { return true }
            }
        }
        return false
    }

    /// Skips a value, or the beginning of an array or object.
    ///
    /// - Returns: Whether the value is complete, or `nil` if it is invalid.
    private mutating func beginValue(_ closers: inout [UInt8]) -> Bool? {
        skipWhitespace()
        guard position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "{"):
            position += 1
            if take(UInt8(ascii: "}")) { return true }
            guard closers.count < Self.maximumDepth, takeName() else { return nil }
            closers.append(UInt8(ascii: "}"))
            return false
        case UInt8(ascii: "["):
            position += 1
            if take(UInt8(ascii: "]")) { return true }
            guard closers.count < Self.maximumDepth else { return nil }
            closers.append(UInt8(ascii: "]"))
            return false
        case UInt8(ascii: "\""): return takeString() ? true : nil
        case UInt8(ascii: "t"): return takeWord("true") ? true : nil
        case UInt8(ascii: "f"): return takeWord("false") ? true : nil
        case UInt8(ascii: "n"): return takeWord("null") ? true : nil
        default: return takeNumber() ? true : nil
        }
    }

    /// Skips the closing bytes after a value, up to the next value.
    ///
    /// - Returns: Whether the text is complete, or `nil` if it is invalid.
    private mutating func endValue(_ closers: inout [UInt8]) -> Bool? {
        while let closer = closers.last {
            if take(closer) {
                closers.removeLast()
                continue
            }
            guard take(UInt8(ascii: ",")) else { return nil }
            return closer == UInt8(ascii: "}") && !takeName() ? nil : false
        }
        skipWhitespace()
        return position == bytes.count ? true : nil
    }

    /// Skips a member's name and the colon (§4).
    private mutating func takeName() -> Bool {
        skipWhitespace()
        return takeString() && take(UInt8(ascii: ":"))
    }

    /// Skips a string. It must have no control characters, and only the escapes that are defined (§7).
    private mutating func takeString() -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return false }
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard takeEscape() else { return false }
            case 0..<0x20: return false
            default: break
            }
        }
        return false
    }

    private mutating func takeEscape() -> Bool {
        guard position < bytes.count else { return false }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "u"):
            let digits = bytes[position...].prefix(4)
            position += digits.count
            return digits.count == 4 && digits.allSatisfy { ASCII.hexValue($0) != nil }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        default: return false
        }
    }

    /// Skips a number. It must have no plus sign and no leading zeros, and digits on both sides of the point (§6).
    private mutating func takeNumber() -> Bool {
        skip(UInt8(ascii: "-"))
        let isZero = position < bytes.count && bytes[position] == UInt8(ascii: "0")
        let digits = takeDigits()
        guard digits > 0, digits == 1 || !isZero else { return false }
        if skip(UInt8(ascii: ".")), takeDigits() == 0 { return false }
        guard skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) else { return true }
        if !skip(UInt8(ascii: "-")) { skip(UInt8(ascii: "+")) }
        return takeDigits() > 0
    }

    private mutating func takeDigits() -> Int {
        let start = position
        while position < bytes.count, ASCII.isDigit(bytes[position]) { position += 1 }
        return position - start
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let word = UnsafeRawBufferPointer(word)
        guard bytes[position...].prefix(word.count).elementsEqual(word) else { return false }
        position += word.count
        return true
    }

    /// Skips `byte` and the white space before it. If another byte follows, the position doesn't change.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhitespace()
        return skip(byte)
    }

    @discardableResult
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Skips white space, which is one of four bytes (§2).
    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }
}
