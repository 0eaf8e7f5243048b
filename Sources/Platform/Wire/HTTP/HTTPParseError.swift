/// A request that the parser refuses. The rest of the connection can't be parsed: answer with `status` and close.
///
/// There is one case per rule. `reason` explains it to the client's developer.
package enum HTTPParseError: Error, Hashable, CaseIterable {
    // Errors of the request line.
    case requestLineMalformed, methodTooLong, versionNotSupported
    case targetMalformed, targetFormWrong, targetTooLong, badEscape, escapedNUL, targetNotUTF8
    // Errors of lines and fields.
    case bareCarriageReturn, bareLineFeed, emptyLines, headTooLarge, tooManyFields
    case foldedLine, spaceBeforeColon, badFieldName, badFieldValue
    // Errors of the fields' values.
    case hostMissing, hostRepeated, hostInvalid
    case badContentLength, repeatedContentLength, lengthWithTransferEncoding
    case transferEncodingInOldVersion, badTransferEncoding, unknownTransferEncoding, expectationUnknown
    // Errors of the body.
    case bodyTooLarge, badChunkSize, chunkSizeOverflow, chunkLineTooLong, badChunkExtension, chunkExtensionsTooLarge
    case badChunkEnd

    /// The status of the response.
    package var status: Int {
        switch self {
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .expectationUnknown: 417
        case .headTooLarge, .tooManyFields: 431
        case .methodTooLong, .unknownTransferEncoding: 501
        case .versionNotSupported: 505
        default: 400
        }
    }

    /// The violated rule, with its section.
    package var reason: String {
        switch self {
        case .requestLineMalformed: "RFC 9112 §3: a request begins with METHOD SP target SP HTTP/1.1."
        case .methodTooLong: "RFC 9112 §3: no method has so long a name."
        case .versionNotSupported: "RFC 9110 §15.6.6: this server speaks HTTP/1.1 and HTTP/1.0."
        case .targetMalformed: "RFC 9112 §3.2: the request target holds bytes that a URI doesn't; percent-encode them."
        case .targetFormWrong:
            "RFC 9112 §3.2: a target is a path, an http URI, host:port for CONNECT, or * for OPTIONS."
        case .targetTooLong: "RFC 9112 §3: the request target is too long."
        case .badEscape: "RFC 3986 §2.1: two hexadecimal digits follow every % in a target."
        case .escapedNUL: "RFC 3986 §7.3: %00 is not taken."
        case .targetNotUTF8: "RFC 3986 §2.5: the target's escapes are not UTF-8."
        case .bareCarriageReturn: "RFC 9112 §2.2: a CR without an LF."
        case .bareLineFeed: "RFC 9112 §2.2: an LF without a CR."
        case .emptyLines: "RFC 9112 §2.2: more than one empty line before a request."
        case .headTooLarge: "RFC 6585 §5: the header section is too large."
        case .tooManyFields: "RFC 6585 §5: too many header fields."
        case .foldedLine: "RFC 9112 §5.2: a header line begins with white space."
        case .spaceBeforeColon: "RFC 9112 §5.1: white space between a field's name and its colon."
        case .badFieldName: "RFC 9110 §5.1: a header line without a name and a colon, or a name that is no token."
        case .badFieldValue: "RFC 9110 §5.5: a control character in a field's value."
        case .hostMissing: "RFC 9112 §3.2: an HTTP/1.1 request has a Host."
        case .hostRepeated: "RFC 9112 §3.2: a request has one Host."
        case .hostInvalid: "RFC 9112 §3.2: the host is not a valid host with an optional port."
        case .badContentLength: "RFC 9110 §8.6: Content-Length is one decimal number."
        case .repeatedContentLength: "RFC 9112 §6.3: Content-Length is given more than once."
        case .lengthWithTransferEncoding: "RFC 9112 §6.1: both Content-Length and Transfer-Encoding."
        case .transferEncodingInOldVersion: "RFC 9112 §6.1: Transfer-Encoding in HTTP/1.0."
        case .badTransferEncoding: "RFC 9112 §6.1: Transfer-Encoding is chunked, given once."
        case .unknownTransferEncoding: "RFC 9112 §6.1: the only transfer coding that is understood is chunked."
        case .expectationUnknown: "RFC 9110 §10.1.1: the only expectation that is understood is 100-continue."
        case .bodyTooLarge: "RFC 9110 §15.5.14: the body is too large."
        case .badChunkSize: "RFC 9112 §7.1: a chunk begins with its size in hexadecimal digits and nothing else."
        case .chunkSizeOverflow: "RFC 9112 §7.1: a chunk's size is beyond all bounds."
        case .chunkLineTooLong: "RFC 9112 §7.1.1: a chunk's first line is too long."
        case .badChunkExtension: "RFC 9112 §7.1.1: a control character in a chunk extension."
        case .chunkExtensionsTooLarge: "RFC 9112 §7.1.1: too many chunk extensions."
        case .badChunkEnd: "RFC 9112 §7.1: CRLF follows a chunk's data."
        }
    }
}
