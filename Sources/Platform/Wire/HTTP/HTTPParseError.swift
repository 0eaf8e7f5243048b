/// An error because of which the parser refuses a request. The rest of the connection can't be parsed either. The
/// server has to answer with `status` and close the connection.
///
/// There is one case for each rule. `reason` explains the rule to developers of clients.
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
        case .requestLineMalformed: "RFC 9112 §3: a request must begin with METHOD SP target SP HTTP/1.1."
        case .methodTooLong: "RFC 9112 §3: the method's name is too long."
        case .versionNotSupported: "RFC 9110 §15.6.6: this server supports HTTP/1.1 and HTTP/1.0 only."
        case .targetMalformed:
            "RFC 9112 §3.2: the request target contains bytes that a URI must not contain. Percent-encode them."
        case .targetFormWrong:
            "RFC 9112 §3.2: the target must be a path, an http URI, host:port for CONNECT, or * for OPTIONS."
        case .targetTooLong: "RFC 9112 §3: the request target is too long."
        case .badEscape: "RFC 3986 §2.1: every % in a target must be followed by two hexadecimal digits."
        case .escapedNUL: "RFC 3986 §7.3: the target must not contain %00."
        case .targetNotUTF8: "RFC 3986 §2.5: the target's percent-encoded bytes must be UTF-8."
        case .bareCarriageReturn: "RFC 9112 §2.2: a CR must be followed by an LF."
        case .bareLineFeed: "RFC 9112 §2.2: an LF must follow a CR."
        case .emptyLines: "RFC 9112 §2.2: at most one empty line is allowed before a request."
        case .headTooLarge: "RFC 6585 §5: the header section is too large."
        case .tooManyFields: "RFC 6585 §5: too many header fields."
        case .foldedLine: "RFC 9112 §5.2: a header line must not begin with white space."
        case .spaceBeforeColon: "RFC 9112 §5.1: white space is not allowed between a field's name and its colon."
        case .badFieldName: "RFC 9110 §5.1: a header line must have a name and a colon, and the name must be a token."
        case .badFieldValue: "RFC 9110 §5.5: a field's value must not contain control characters."
        case .hostMissing: "RFC 9112 §3.2: an HTTP/1.1 request must have a Host field."
        case .hostRepeated: "RFC 9112 §3.2: a request must have only one Host field."
        case .hostInvalid: "RFC 9112 §3.2: the Host field must be a valid host with an optional port."
        case .badContentLength: "RFC 9110 §8.6: Content-Length must be one decimal number."
        case .repeatedContentLength: "RFC 9112 §6.3: Content-Length must be given only once."
        case .lengthWithTransferEncoding:
            "RFC 9112 §6.1: Content-Length and Transfer-Encoding must not be used together."
        case .transferEncodingInOldVersion: "RFC 9112 §6.1: HTTP/1.0 has no Transfer-Encoding."
        case .badTransferEncoding: "RFC 9112 §6.1: Transfer-Encoding must be chunked, given once."
        case .unknownTransferEncoding: "RFC 9112 §6.1: the only supported transfer coding is chunked."
        case .expectationUnknown: "RFC 9110 §10.1.1: the only supported expectation is 100-continue."
        case .bodyTooLarge: "RFC 9110 §15.5.14: the body is too large."
        case .badChunkSize: "RFC 9112 §7.1: a chunk must begin with its size in hexadecimal digits."
        case .chunkSizeOverflow: "RFC 9112 §7.1: a chunk's size is too large."
        case .chunkLineTooLong: "RFC 9112 §7.1.1: a chunk's first line is too long."
        case .badChunkExtension: "RFC 9112 §7.1.1: a chunk extension must not contain control characters."
        case .chunkExtensionsTooLarge: "RFC 9112 §7.1.1: too many chunk extensions."
        case .badChunkEnd: "RFC 9112 §7.1: a chunk's data must be followed by CRLF."
        }
    }
}
