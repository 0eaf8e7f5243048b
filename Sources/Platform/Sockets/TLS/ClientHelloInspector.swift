/// Checks a client's plaintext on a TLS port before OpenSSL reads it. A value that gets the bytes piece by piece.
///
/// When OpenSSL receives the header of a ClientHello, it allocates memory for the length in that header, up to 128 KB.
/// A thousand peers that send only nine bytes each would use 128 MB. This type therefore checks the length first. The
/// type also checks a second ClientHello, which follows a HelloRetryRequest (RFC 8446 §4.1.4).
struct ClientHelloInspector {
    enum Verdict: Equatable {
        /// OpenSSL may read the bytes.
        case mayPass
        case refused(TLSHandshakeFailure)
    }

    /// The maximum size of a ClientHello in bytes. A browser sends less than 2 KB, even with post-quantum keys and
    /// tickets. RFC 8446 permits more.
    static let maxHelloBytes = 16 * 1024
    /// The length of a record's header: type, version and length (RFC 8446 §5.1).
    private static let recordHeaderBytes = 5
    /// The length of a handshake message's header: type and length (§4).
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
    ///   - bytes: The next received bytes.
    ///   - isOldVersion: Whether TLS 1.2 was negotiated. TLS 1.2 has only one ClientHello, and everything after
    ///     ChangeCipherSpec is encrypted.
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
        // A valid client doesn't split the header of the message. A client that splits it may want to hide the length.
        return recordLeft < Self.messageHeaderBytes ? .protocolError : nil
    }

    private mutating func takeMessageHeader(_ byte: UInt8) -> TLSHandshakeFailure? {
        recordLeft -= 1
        messageHeaderSeen += 1
        // The complete length, or a part that is already too large, is known before OpenSSL gets the message's content.
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
    /// The handshake took longer than its limit.
    case timeout
    /// The peer sent HTTP without TLS.
    case plainHTTP = "plain-http"
    /// The peer sent something other than TLS, refused this side's messages, or has no version or cipher in common.
    case protocolError = "protocol"
    /// The handshake was longer than any valid one.
    case tooLarge = "too-large"
    /// The peer closed the connection during the handshake.
    case closed
}
