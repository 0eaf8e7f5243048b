/// Reads numbers of a fixed width and the signs between them, from the left.
struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Exactly `width` ASCII digits whose number lies in `range`.
    mutating func number(_ width: Int, _ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(width)
        guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard range.contains(number) else { return nil }
        rest = rest.dropFirst(width)
        return number
    }

    /// Whether the next character is this one (or the other); passes it if so.
    mutating func skip(_ sign: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
        guard let next = rest.first, next == UInt8(ascii: sign) || other.map({ next == UInt8(ascii: $0) }) == true
        else {
            return false
        }
        rest = rest.dropFirst()
        return true
    }
}
