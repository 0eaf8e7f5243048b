/// The bytes of HTTP's grammar, and comparisons that ignore the case of ASCII letters.
package enum ASCII {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Returns the value of a hexadecimal digit in either case.
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte &- 0x30
        case 0x41...0x46: byte &- 0x37
        case 0x61...0x66: byte &- 0x57
        default: nil
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}

extension UnsafeRawBufferPointer {
    init(_ text: StaticString) {
        self.init(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Whether the bytes are equal, ignoring the case of ASCII letters. Used for names of fields, tokens and schemes
    /// (RFC 9110 §5.1).
    func equalsIgnoringCase(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        // This is checked first, because nearly all clients use the spelling of the RFC.
        if equals(other) { return true }
        for index in 0..<count where ASCII.lowercased(self[index]) != ASCII.lowercased(other[index]) { return false }
        return true
    }

    func equalsIgnoringCase(_ other: StaticString) -> Bool {
        equalsIgnoringCase(UnsafeRawBufferPointer(other))
    }

    /// Returns the range without the `OWS` (spaces and tabs, RFC 9110 §5.6.3) at its beginning and end.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start] == ASCII.space || self[start] == ASCII.tab { start += 1 }
        while start < end, self[end - 1] == ASCII.space || self[end - 1] == ASCII.tab { end -= 1 }
        return start..<end
    }

    /// Calls `body` with each non-empty element of a comma-separated list (RFC 9110 §5.6.1.2).
    func forEachListElement(in range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        var rest = range
        while let element = takeListElement(from: &rest) {
            if !element.isEmpty { body(element) }
        }
    }

    /// Removes the next element from the front of `rest` and returns it. The element may be empty. Returns `nil` at the
    /// end.
    func takeListElement(from rest: inout Range<Int>) -> UnsafeRawBufferPointer? {
        guard !rest.isEmpty else { return nil }
        let end = firstOffset(of: UInt8(ascii: ","), in: rest) ?? rest.upperBound
        let element = part(trimmed(rest.lowerBound..<end))
        rest = Swift.min(end + 1, rest.upperBound)..<rest.upperBound
        return element
    }
}
