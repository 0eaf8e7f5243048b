/// Checks a client's plaintext on a TLS port before OpenSSL reads it. A value that is fed piece by piece.
///
/// OpenSSL allocates as much memory as the header of a ClientHello announces, up to 128 KB, before the rest arrives. A
/// thousand peers that send nine bytes each would use 128 MB. This type therefore checks the length first, also of a
/// second ClientHello after a HelloRetryRequest (RFC 8446 §4.1.4).
struct ClientHelloInspector {
    enum Verdict: Equatable {
        /// OpenSSL may read the bytes.
        case mayPass
        case refused(TLSHandshakeFailure)
    }

    /// A browser's ClientHello is shorter than 2 KB, even with post-quantum keys and tickets. RFC 8446 permits more.
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
    /// - bytes: The next received bytes.
    /// - isOldVersion: Whether TLS 1.2 was negotiated. There is then only one ClientHello, and everything after
    ///   ChangeCipherSpec is encrypted.
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
        // A client that splits the message's header wants to hide its length.
        return recordLeft < Self.messageHeaderBytes ? .protocolError : nil
    }

    private mutating func takeMessageHeader(_ byte: UInt8) -> TLSHandshakeFailure? {
        recordLeft -= 1
        messageHeaderSeen += 1
        // The whole length, or a length that is too large, is known before a byte of the message passes.
        if messageHeaderSeen > 1 { messageLength = messageLength << 8 | Int(byte) }
        guard messageLength <= Self.maxHelloBytes else { return .tooLarge }
        guard messageHeaderSeen == Self.messageHeaderBytes else { return nil }
        messageLeft = messageLength
        messageLength = 0
        messageHeaderSeen = 0
        return nil
    }
}

/// The reason why a TLS handshake failed.
package enum TLSHandshakeFailure: String, Sendable, CaseIterable {
    /// It took longer than its limit.
    case timeout
    /// The peer sent HTTP without TLS.
    case plainHTTP = "plain-http"
    /// The peer sent something other than TLS, or no common version and cipher, or refused ours.
    case protocolError = "protocol"
    /// It was longer than any valid handshake.
    case tooLarge = "too-large"
    /// The peer closed the connection during the handshake.
    case closed
}
