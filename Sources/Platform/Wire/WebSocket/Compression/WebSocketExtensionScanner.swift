/// Scans the extensions and parameters in a `Sec-WebSocket-Extensions` field, one by one, without copying them.
///
/// ```
///     extension = token *( ";" token [ "=" ( token | quoted-string ) ] )        (RFC 6455 §9.1)
/// ```
struct WebSocketExtensionScanner {
    enum Element {
        /// The name of an extension. Its parameters follow.
        case offer(UnsafeRawBufferPointer)
        /// A parameter. Its value is as it was sent: a token, possibly quoted and escaped (§9.1).
        case parameter(UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?)
    }

    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    private var isInOffer = false
    /// Whether the bytes that come next violate the grammar. In that case §9.1 requires the server to fail the
    /// connection.
    private(set) var isMalformed = false

    init(_ field: UnsafeRawBufferPointer) {
        bytes = field
        skipSpace()
    }

    /// Returns the next element. Returns `nil` at the end, and if ``isMalformed``.
    mutating func next() -> Element? {
        guard !isMalformed else { return nil }
        if isInOffer, skip(UInt8(ascii: ";")) { return parameter() }
        guard !isInOffer || index == bytes.count || skip(UInt8(ascii: ",")) else { return malformed() }
        isInOffer = false
        // A list may have empty elements (RFC 9110 §5.6.1.2).
        while skip(UInt8(ascii: ",")) {}
        guard index < bytes.count else { return nil }
        guard let name = token() else { return malformed() }
        isInOffer = true
        return .offer(name)
    }

    private mutating func parameter() -> Element? {
        guard let name = token() else { return malformed() }
        guard skip(UInt8(ascii: "=")) else { return .parameter(name, value: nil) }
        guard let value = token() ?? quotedToken() else { return malformed() }
        return .parameter(name, value: value)
    }

    private mutating func malformed() -> Element? {
        isMalformed = true
        return nil
    }

    private mutating func token() -> UnsafeRawBufferPointer? {
        let start = index
        while index < bytes.count, ByteSet.token.contains(bytes[index]) { index += 1 }
        return start < index ? take(from: start) : nil
    }

    /// Takes a quoted token with its quotes and escapes.
    private mutating func quotedToken() -> UnsafeRawBufferPointer? {
        let start = index
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
        index += 1
        var isEmpty = true
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\"") {
                index += 1
                return isEmpty ? nil : take(from: start)
            }
            if bytes[index] == UInt8(ascii: "\\") { index += 1 }
            guard index < bytes.count, ByteSet.token.contains(bytes[index]) else { return nil }
            index += 1
            isEmpty = false
        }
        return nil
    }

    /// Returns the bytes from `start` to the present position, and skips white space after them.
    private mutating func take(from start: Int) -> UnsafeRawBufferPointer {
        let taken = bytes.part(start..<index)
        skipSpace()
        return taken
    }

    private mutating func skip(_ separator: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == separator else { return false }
        index += 1
        skipSpace()
        return true
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == ASCII.space || bytes[index] == ASCII.tab { index += 1 }
    }
}
