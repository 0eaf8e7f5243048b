/// Encodes a request (RFC 9112 §3).
package enum HTTPRequestEncoder {
    /// Returns the head and the body.
    ///
    /// - Parameters:
    ///   - target: The target, percent-encoded. Invalid bytes in it are percent-encoded here, so that no byte can end
    ///     the line.
    ///   - body: The body, or `nil` if there is none. With a body, its length is sent.
    package static func encode(
        _ method: String, _ target: String, host: String, fields: [HTTPField], body: [UInt8]? = nil
    ) -> [UInt8] {
        var bytes = Array(method.utf8) + [ASCII.space]
        for byte in target.utf8 {
            if ByteSet.target.contains(byte) {
                bytes.append(byte)
            } else {
                let digits = String(byte, radix: 16, uppercase: true).utf8
                bytes += [UInt8(ascii: "%")] + (digits.count < 2 ? [UInt8(ascii: "0")] : []) + digits
            }
        }
        HTTPResponseEncoder.append(" HTTP/1.1\r\n", to: &bytes)
        HTTPResponseEncoder.field("Host", host, into: &bytes)
        for field in fields { HTTPResponseEncoder.field(named: field.name, field.value, into: &bytes) }
        if let body { HTTPResponseEncoder.field("Content-Length", body.count, into: &bytes) }
        HTTPResponseEncoder.endOfHead(into: &bytes)
        return bytes + (body ?? [])
    }
}
