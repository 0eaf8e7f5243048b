/// Looks at what a client sends in plaintext on a TLS port before OpenSSL sees it: a value, fed piece by piece.
///
/// OpenSSL sets memory aside for a ClientHello as long as its header says, up to 128 KB, before the rest has come; a
/// thousand peers that send nine bytes each would have 128 MB. So that length is looked at first; also of a second
/// ClientHello, which the client sends when it is asked to try again (RFC 8446 §4.1.4).
struct ClientHelloInspector {
    enum Verdict: Equatable {
        /// OpenSSL may have the bytes.
        case mayPass
        case refused(TLSHandshakeFailure)
    }

    /// Browsers' are under 2 KB, with post-quantum keys and tickets; RFC 8446 allows more than anybody sends.
    static let maxHelloBytes = 16 * 1024
    /// Type, version and length (RFC 8446 §5.1).
    private static let recordHeaderBytes = 5
    /// Type and length of a handshake message (§4).
    private static let messageHeaderBytes = 4
    private static let handshake: UInt8 = 0x16
    private static let changeCipherSpec: UInt8 = 0x14

    private var isFirstRecord = true
    private var isOver = false
    private var recordType: UInt8 = 0
    private var recordHeaderSeen = 0
    private var recordLeft = 0
    private var messageHeaderSeen = 0
    private var messageLength = 0
    private var messageLeft = 0

    /// - Parameters:
    ///   - bytes: What came, after what was given before.
    ///   - isOldVersion: TLS 1.2 was agreed on: there is one ClientHello, and what follows ChangeCipherSpec is encrypted.
    mutating func inspect(_ bytes: UnsafeRawBufferPointer, isOldVersion: Bool = false) -> Verdict {
        var index = 0
        while index < bytes.count, !isOver {
            let isInRecord = recordHeaderSeen == Self.recordHeaderBytes
            if isInRecord, recordLeft == 0 {
                recordHeaderSeen = 0
            } else if isInRecord, recordType != Self.handshake || messageLeft > 0 {
                let left = recordType == Self.handshake ? min(recordLeft, messageLeft) : recordLeft
                let passed = min(left, bytes.count - index)
                recordLeft -= passed
                if recordType == Self.handshake { messageLeft -= passed }
                index += passed
            } else {
                let failure =
                    isInRecord ? takeMessageHeader(bytes[index]) : takeRecordHeader(bytes[index], isOldVersion)
                if let failure { return .refused(failure) }
                index += 1
            }
        }
        return .mayPass
    }

    private mutating func takeRecordHeader(_ byte: UInt8, _ isOldVersion: Bool) -> TLSHandshakeFailure? {
        switch recordHeaderSeen {
        case 0:
            if isFirstRecord, byte != Self.handshake {
                return (0x41...0x5A).contains(byte) ? .plainHTTP : .protocolError
            }
            isOver = isOldVersion && byte == Self.changeCipherSpec
            recordType = byte
            recordLeft = 0
        case 3, 4:
            recordLeft = recordLeft << 8 | Int(byte)
        default: break
        }
        recordHeaderSeen += 1
        guard isFirstRecord, recordHeaderSeen == Self.recordHeaderBytes else { return nil }
        isFirstRecord = false
        // Nobody splits the message's header, but to hide its length.
        return recordLeft < Self.messageHeaderBytes ? .protocolError : nil
    }

    private mutating func takeMessageHeader(_ byte: UInt8) -> TLSHandshakeFailure? {
        recordLeft -= 1
        messageHeaderSeen += 1
        // The length is told whole, or too large, before a byte of the message passes.
        if messageHeaderSeen > 1 { messageLength = messageLength << 8 | Int(byte) }
        guard messageLength <= Self.maxHelloBytes else { return .tooLarge }
        guard messageHeaderSeen == Self.messageHeaderBytes else { return nil }
        messageLeft = messageLength
        messageLength = 0
        messageHeaderSeen = 0
        return nil
    }
}

/// Why a connection to a TLS port came to nothing.
package enum TLSHandshakeFailure: String, Sendable, CaseIterable {
    /// It took longer than it may.
    case timeout
    /// The peer spoke HTTP without TLS.
    case plainHTTP = "plain-http"
    /// What the peer sent is no TLS, or not of the versions and ciphers that are spoken here, or it refused ours.
    case protocolError = "protocol"
    /// It was longer than any handshake has to be.
    case tooLarge = "too-large"
    /// The peer left in the midst of it.
    case closed
}
