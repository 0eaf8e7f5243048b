/// An element of `Sec-WebSocket-Extensions` (RFC 6455 §9.1): an extension and its parameters, as they were sent.
///
///     extension = token *( ";" token [ "=" ( token | quoted-string ) ] )
struct WebSocketExtensionOffer: Sendable, Equatable {
    struct Parameter: Sendable, Equatable {
        let name: String
        /// Without quotes and escapes; always a token.
        let value: String?
    }

    let name: String
    let parameters: [Parameter]

    /// All elements of a field's value in their order. Throws when it is not of that form: §9.1 has the connection fail.
    static func list(_ field: String) throws(WebSocketHandshakeError) -> [WebSocketExtensionOffer] {
        var scanner = ExtensionScanner(field)
        var offers: [WebSocketExtensionOffer] = []
        while true {
            // A list may have empty elements (RFC 9110 §5.6.1.2).
            while scanner.skip(UInt8(ascii: ",")) {}
            if scanner.isAtEnd { return offers }
            offers.append(try offer(&scanner))
            guard scanner.isAtEnd || scanner.skip(UInt8(ascii: ",")) else { throw .badExtensions }
        }
    }

    private static func offer(
        _ scanner: inout ExtensionScanner
    ) throws(WebSocketHandshakeError) -> WebSocketExtensionOffer {
        guard let name = scanner.token() else { throw .badExtensions }
        var parameters: [Parameter] = []
        while scanner.skip(UInt8(ascii: ";")) {
            guard let name = scanner.token() else { throw .badExtensions }
            var value: String?
            if scanner.skip(UInt8(ascii: "=")) {
                value = scanner.token() ?? scanner.quotedToken()
                guard value != nil else { throw .badExtensions }
            }
            parameters.append(Parameter(name: name, value: value))
        }
        return WebSocketExtensionOffer(name: name, parameters: parameters)
    }
}

/// Reads tokens (RFC 9110 §5.6.2) and what is between them; white space around either is skipped.
private struct ExtensionScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
        skipSpace()
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ separator: UInt8) -> Bool {
        guard rest.first == separator else { return false }
        rest.removeFirst()
        skipSpace()
        return true
    }

    mutating func token() -> String? {
        let token = rest.prefix(while: ByteSet.token.contains)
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        skipSpace()
        return String(Substring(token))
    }

    /// A token in quotes, any of its characters escaped by a backslash: what is quoted has to be a token (RFC 6455 §9.1).
    mutating func quotedToken() -> String? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest.removeFirst()
        var token: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                skipSpace()
                return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            guard ByteSet.token.contains(byte) else { return nil }
            token.append(byte)
        }
        return nil
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == ASCII.space || $0 == ASCII.tab }
    }
}
