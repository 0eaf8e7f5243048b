/// The version of a message. A higher minor version than 1.1 is read as 1.1 (RFC 9110 §2.5).
package enum HTTPVersion: Sendable, Hashable {
    case http10, http11

    /// Reads `HTTP/1.x` (RFC 9112 §2.3); case matters.
    init(_ bytes: UnsafeRawBufferPointer) throws(HTTPParseError) {
        guard bytes.count == 8, bytes.part(0..<5).equals(UnsafeRawBufferPointer("HTTP/")),
            ASCII.isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."), ASCII.isDigit(bytes[7])
        else { throw .requestLineMalformed }
        guard bytes[5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        self = bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
    }
}
