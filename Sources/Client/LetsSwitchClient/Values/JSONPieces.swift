#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Takes a JSON text apart into pieces as they are written: a decoder keeps of them only what it knows.
///
/// It checks what it goes by, which are brackets, commas and the ends of strings. The grammar within a piece, and how deep it may
/// be, is left to the decoder that gets it. O(n), without recursion.
///
/// The server's `JSONObject` isn't used because it is in `Wire`, without which this library is built on Apple's systems.
struct JSONPieces {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    private init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The elements of an array, without the white space around them; `nil` when it is none.
    static func elements(of array: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var pieces = JSONPieces(array)
        return pieces.takeAll(from: UInt8(ascii: "["), to: UInt8(ascii: "]")) { $0.takeValue() }
    }

    /// The value of an object's member, of several of that name the last; `nil` when there is none, or no object.
    static func value(of name: String, in object: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var pieces = JSONPieces(object)
        let members = pieces.takeAll(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { $0.takeMember() }
        // A name may be written with escapes.
        return members?.last { (try? JSONDecoder().decode(String.self, from: Data($0.name))) == name }?.value
    }

    private mutating func takeAll<Piece>(
        from opener: UInt8, to closer: UInt8, _ take: (inout JSONPieces) -> Piece?
    ) -> [Piece]? {
        guard skip(opener) else { return nil }
        var all: [Piece] = []
        if !skip(closer) {
            repeat {
                guard let piece = take(&self) else { return nil }
                all.append(piece)
            } while skip(UInt8(ascii: ","))
            guard skip(closer) else { return nil }
        }
        skipWhitespace()
        return position == bytes.endIndex ? all : nil
    }

    private mutating func takeMember() -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        skipWhitespace()
        let start = position
        guard passString() else { return nil }
        let name = bytes[start..<position]
        guard skip(UInt8(ascii: ":")), let value = takeValue() else { return nil }
        return (name, value)
    }

    /// Up to the end of a string or of the outermost bracket, else up to what can't be in a number or a word.
    private mutating func takeValue() -> ArraySlice<UInt8>? {
        skipWhitespace()
        let start = position
        if position < bytes.endIndex, bytes[position] == UInt8(ascii: "\"") {
            return passString() ? bytes[start..<position] : nil
        }
        var depth = 0
        while position < bytes.endIndex {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard depth > 0, passString() else { return nil }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth > 0 || position == start else { return nil }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return start < position ? bytes[start..<position] : nil }
                depth -= 1
                if depth == 0 {
                    position += 1
                    return bytes[start..<position]
                }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return start < position ? bytes[start..<position] : nil }
            default: break
            }
            position += 1
        }
        // A value alone is no piece: something has to close what it is in.
        return nil
    }

    /// Passes a string and its quotation marks; `false` when there is none, or no end of it.
    private mutating func passString() -> Bool {
        guard skip(UInt8(ascii: "\"")) else { return false }
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            // Whatever is escaped, it doesn't end the string.
            case UInt8(ascii: "\\"): position = min(position + 1, bytes.endIndex)
            default: break
            }
        }
        return false
    }

    /// Passes `byte` and the white space before it; stays behind the white space when something else is there.
    private mutating func skip(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard position < bytes.endIndex, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// RFC 8259 §2: the four bytes that count as white space.
    private mutating func skipWhitespace() {
        while position < bytes.endIndex, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }
}
