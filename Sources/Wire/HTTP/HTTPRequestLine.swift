/// `method SP request-target SP HTTP-version` (RFC 9112 §3): single spaces, nothing else.
struct HTTPRequestLine {
    let method: HTTPMethod
    let version: HTTPVersion
    let target: HTTPTarget

    init(
        _ bytes: UnsafeRawBufferPointer, in line: Range<Int>, limits: HTTPLimits
    ) throws(HTTPParseError) {
        guard let methodEnd = bytes.firstOffset(of: ASCII.space, in: line), methodEnd > line.lowerBound,
            bytes.part(line.lowerBound..<methodEnd).areTokenBytes,
            let targetEnd = bytes.firstOffset(of: ASCII.space, in: methodEnd + 1..<line.upperBound)
        else { throw .requestLineMalformed }
        guard methodEnd - line.lowerBound <= HTTPMethod.longest else { throw .methodTooLong }
        method = HTTPMethod(token: bytes.part(line.lowerBound..<methodEnd))
        version = try HTTPVersion(bytes.part(targetEnd + 1..<line.upperBound))
        guard targetEnd - methodEnd - 1 <= limits.targetBytes else { throw .targetTooLong }
        target = try HTTPTarget(bytes, in: methodEnd + 1..<targetEnd, method: method)
    }
}
