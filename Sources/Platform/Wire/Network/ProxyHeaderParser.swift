/// The content of a PROXY header (HAProxy's PROXY protocol, versions 1 and 2).
package enum ProxyHeader: Sendable, Hashable {
    /// The connection is the proxy's own (LOCAL in version 2), or the proxy doesn't know the IP address of its client
    /// (UNKNOWN in version 1, UNSPEC and UNIX in version 2). In both cases the proxy's own address counts.
    case ownConnection
    /// The connection is for a client with this address.
    case source(IPAddress)
}

/// The error for a connection without a valid PROXY header. The server can't trust any of its bytes.
package enum ProxyHeaderError: Error, Hashable, CaseIterable {
    /// The connection doesn't begin with the signature of version 1 or 2.
    case noHeader
    /// A line of version 1 is too long or malformed.
    case lineTooLong, lineMalformed
    /// Version 2 doesn't define this version, command, family or transport, or there are too few bytes of addresses.
    case versionUnknown, commandUnknown, familyUnknown, lengthTooShort
}

/// Parses the PROXY header of a connection, whose bytes may be split anywhere.
///
/// ```
///     v1   PROXY TCP4 203.0.113.7 192.0.2.1 56324 80 CR LF              at most 107 bytes
///     v2   0D0A0D0A000D0A515549540A | 2, command | family, transport | length | addresses | TLVs
///          12 bytes                 | 1 byte     | 1 byte            | 2      | `length` bytes
/// ```
///
/// The specification is https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt. The parser keeps at most 107
/// bytes, and skips everything after the source address of version 2.
package struct ProxyHeaderParser: Sendable {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
    private static let linePrefix = Array("PROXY ".utf8)
    private static let maxLineBytes = 107
    /// The number of fixed bytes in version 2: signature, version and command, family, and length.
    private static let fixedBytes = 16

    private var bytes: [UInt8] = []
    /// The header, and the number of bytes that are still skipped. Set when the needed bytes of version 2 have arrived.
    private var rest: (count: Int, header: ProxyHeader)?

    package init() {}

    /// Returns the header when it is complete, and removes its bytes from the front of `input`. Returns `nil` if more
    /// bytes are needed. Don't call this method again after a header or an error.
    package mutating func next(_ input: inout UnsafeRawBufferPointer) throws(ProxyHeaderError) -> ProxyHeader? {
        while true {
            if let rest {
                let count = min(rest.count, input.count)
                _ = input.take(count)
                self.rest?.count -= count
                return count == rest.count ? rest.header : nil
            }
            guard let byte = input.first else { return nil }
            _ = input.take(1)
            bytes.append(byte)
            if bytes[0] == Self.signature[0] {
                try takeBinary()
            } else if let header = try takeLine() {
                return header
            }
        }
    }

    // MARK: Version 1

    private func takeLine() throws(ProxyHeaderError) -> ProxyHeader? {
        guard bytes.count > Self.linePrefix.count else {
            guard Self.linePrefix.starts(with: bytes) else { throw .noHeader }
            return nil
        }
        guard bytes.last == ASCII.lineFeed else {
            guard bytes.count < Self.maxLineBytes else { throw .lineTooLong }
            return nil
        }
        guard bytes[bytes.count - 2] == ASCII.carriageReturn else { throw .lineMalformed }
        let line = bytes[Self.linePrefix.count..<(bytes.count - 2)]
        let parts = line.split(separator: ASCII.space, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        // The protocol requires ignoring everything after UNKNOWN.
        if parts.first == "UNKNOWN" { return .ownConnection }
        guard parts.count == 5, parts[0] == "TCP4" || parts[0] == "TCP6",
            let source = Self.address(parts[1], of: parts[0]), Self.address(parts[2], of: parts[0]) != nil,
            Self.isPort(parts[3]), Self.isPort(parts[4])
        else { throw .lineMalformed }
        return .source(source)
    }

    private static func address(_ text: String, of family: String) -> IPAddress? {
        guard text.utf8.contains(UInt8(ascii: ":")) == (family == "TCP6") else { return nil }
        return IPAddress(text)
    }

    /// Whether a text is a decimal number from 0 to 65535 without leading zeros.
    private static func isPort(_ text: String) -> Bool {
        text.utf8.allSatisfy(ASCII.isDigit) && UInt16(text) != nil && (text == "0" || text.first != "0")
    }

    // MARK: Version 2

    private mutating func takeBinary() throws(ProxyHeaderError) {
        let count = bytes.count
        guard count > Self.signature.count else {
            guard Self.signature.starts(with: bytes) else { throw .noHeader }
            return
        }
        if count == 13 {
            guard bytes[12] >> 4 == 2 else { throw .versionUnknown }
            guard bytes[12] & 15 <= 1 else { throw .commandUnknown }
        }
        guard count >= Self.fixedBytes else { return }
        let length = Int(bytes[14]) << 8 | Int(bytes[15])
        // For LOCAL, the protocol requires ignoring the addresses and their family.
        guard bytes[12] & 15 == 1 else {
            rest = (length, .ownConnection)
            return
        }
        switch bytes[13] {
        case 0x00:
            rest = (length, .ownConnection)
        case 0x11:
            guard length >= 12 else { throw .lengthTooShort }
            guard count == Self.fixedBytes + 4 else { return }
            let address = bytes[Self.fixedBytes...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            rest = (length - 4, .source(IPAddress(ipv4: address)))
        case 0x21:
            guard length >= 36 else { throw .lengthTooShort }
            guard count == Self.fixedBytes + 16 else { return }
            let address = bytes.withUnsafeBytes { IPAddress(ipv6: $0.part(Self.fixedBytes..<count)) }
            rest = (length - 16, address.map(ProxyHeader.source) ?? .ownConnection)
        case 0x31:
            guard length >= 216 else { throw .lengthTooShort }
            rest = (length, .ownConnection)
        default:
            // Datagrams are also refused, because this connection is a stream.
            throw .familyUnknown
        }
    }
}
