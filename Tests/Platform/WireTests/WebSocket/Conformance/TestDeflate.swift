/// DEFLATE data made by hand (RFC 1951), including data that no compressor produces. An independent implementation for
/// the tests.
struct TestDeflate: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The number of used bits in the last byte; 0 if it is full.
    private var used = 0

    /// The data with the end that a sender must write (RFC 7692 §7.2.1): the header of an empty block without its
    /// length.
    var message: [UInt8] {
        var copy = self
        copy.bits(0, 3)
        return copy.bytes
    }

    /// Appends a stored block (RFC 1951 §3.2.4).
    func stored(_ data: [UInt8], isFinal: Bool = false) -> TestDeflate {
        var copy = self
        copy.bits(isFinal ? 1 : 0, 3)
        copy.used = 0
        let count = data.count
        let length = [UInt8(count & 255), UInt8(count >> 8)]
        copy.bytes += length + length.map { ~$0 } + data
        return copy
    }

    /// The symbols between the header and the end of a block with fixed codes (§3.2.6).
    enum Symbol: Sendable {
        case literal(UInt8)
        /// A reference: a length of 3 to 10 or 258, and a distance of 1 to 4 or one that `distance(code:)` returns.
        case match(length: Int, distance: Int)
        /// Codes of the literal and the distance alphabet, which may be out of range.
        case codes(Int, distance: Int? = nil)
    }

    func fixed(_ symbols: [Symbol], isFinal: Bool = false, isEnded: Bool = true) -> TestDeflate {
        var copy = self
        copy.bits(isFinal ? 0b011 : 0b010, 3)
        for symbol in symbols {
            switch symbol {
            case .literal(let byte):
                copy.literalCode(Int(byte))
            case .match(let length, let distance):
                copy.literalCode(length == 258 ? 285 : 254 + length)
                copy.distance(distance)
            case .codes(let literal, let distance):
                copy.literalCode(literal)
                if let distance { copy.code(distance, 5) }
            }
        }
        if isEnded { copy.literalCode(256) }
        if isFinal { copy.used = 0 }
        return copy
    }

    func text(_ text: String, isFinal: Bool = false) -> TestDeflate {
        fixed(text.utf8.map(Symbol.literal), isFinal: isFinal)
    }

    private mutating func literalCode(_ value: Int) {
        switch value {
        case 0...143: code(0x30 + value, 8)
        case 144...255: code(0x190 + value - 144, 9)
        case 256...279: code(value - 256, 7)
        default: code(0xC0 + value - 280, 8)
        }
    }

    /// Appends a distance (§3.2.5). For distances above 4, each pair of codes has one more extra bit than the previous
    /// pair.
    private mutating func distance(_ distance: Int) {
        guard distance > 4 else { return code(distance - 1, 5) }
        let extra = (distance - 1).bitWidth - (distance - 1).leadingZeroBitCount - 2
        code(2 * extra + 2 + ((distance - 1) >> extra & 1), 5)
        bits(distance - 1 & ((1 << extra) - 1), extra)
    }

    /// Appends a code, which begins with its highest bit (§3.1.1).
    private mutating func code(_ value: Int, _ count: Int) {
        for place in (0..<count).reversed() { bits(value >> place & 1, 1) }
    }

    /// Appends a value that isn't a Huffman code, least significant bit first.
    private mutating func bits(_ value: Int, _ count: Int) {
        for place in 0..<count {
            if used == 0 { bytes.append(0) }
            bytes[bytes.count - 1] |= UInt8(value >> place & 1) << UInt8(used)
            used = (used + 1) % 8
        }
    }
}
