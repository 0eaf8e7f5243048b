/// Looks at the first bytes on a TLS port before OpenSSL sees them: a value, fed piece by piece.
///
/// OpenSSL sets memory aside for a ClientHello as long as its header says, up to 128 KB, before the rest has come; a
/// thousand peers that send nine bytes each would have 128 MB. So that length is looked at first.
struct TLSClientGreeting {
    enum Verdict: Equatable {
        /// OpenSSL may have the bytes.
        case mayPass
        case refused(TLSHandshakeFailure)
    }

    /// Browsers' are under 2 KB, with post-quantum keys and tickets; RFC 8446 allows more than anybody sends.
    static let maxHelloBytes = 16 * 1024
    /// Record header (RFC 8446 §5.1), type and length of the handshake message (§4).
    private static let headerBytes = 9
    private static let messageHeaderBytes = 4

    private var seen: UInt8 = 0
    private var recordBytes = 0
    private var helloBytes = 0

    /// - Parameter bytes: What came, after what was given before.
    mutating func judge(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        for byte in bytes {
            guard seen < Self.headerBytes else { return .mayPass }
            switch seen {
            case 0 where byte != 0x16:
                return .refused((0x41...0x5A).contains(byte) ? .plainHTTP : .protocolError)
            case 3, 4:
                recordBytes = recordBytes << 8 | Int(byte)
            case 5 where recordBytes < Self.messageHeaderBytes:
                // Nobody splits the message's header, but to hide its length.
                return .refused(.protocolError)
            case 6...8:
                helloBytes = helloBytes << 8 | Int(byte)
                if helloBytes > Self.maxHelloBytes { return .refused(.tooLarge) }
            default: break
            }
            seen += 1
        }
        return .mayPass
    }
}
