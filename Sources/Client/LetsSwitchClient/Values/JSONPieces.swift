#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Splits a JSON text into its pieces without changing them. A decoder would keep only the members that it knows.
///
/// The splitter checks only brackets, commas and the ends of strings. The decoder of a piece checks the grammar and the
/// depth. Splitting takes O(n) time and uses no recursion.
///
/// The server's `JSONObject` isn't used because it is part of `Wire`, which isn't available on Apple's systems.
struct JSONPieces {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    private init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Returns the elements of an array, without the white space around them. Returns `nil` if the text isn't an array.
    static func elements(of array: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var pieces = JSONPieces(array)
        return pieces.takeAll(from: UInt8(ascii: "["), to: UInt8(ascii: "]")) { $0.takeValue() }
    }

    /// Returns the value of an object's member, or `nil` if there is none. If several members have that name, the last
    /// one counts.
    static func value(of name: String, in object: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var pieces = JSONPieces(object)
        let members = pieces.takeAll(from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) { $0.takeMember() }
        // The name of a member may contain escapes, so it is decoded before the comparison.
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

    /// Takes a string, an array, an object, or all characters of a number or word.
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
        // The text ended inside the enclosing array or object.
        return nil
    }

    /// Skips a string with its quotation marks. Returns `false` if no string begins here or the string doesn't end.
    private mutating func passString() -> Bool {
        guard skip(UInt8(ascii: "\"")) else { return false }
        while position < bytes.endIndex {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            // The character after a backslash can't end the string.
            case UInt8(ascii: "\\"): position = min(position + 1, bytes.endIndex)
            default: break
            }
        }
        return false
    }

    /// Skips white space and then `byte`. If another byte follows, only the white space is skipped.
    private mutating func skip(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard position < bytes.endIndex, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Skips the four white space characters of RFC 8259 §2.
    private mutating func skipWhitespace() {
        while position < bytes.endIndex, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }
}
