/// Writes a request (RFC 9112 §3).
package enum HTTPRequestEncoder {
    /// The head and the body behind it.
    ///
    /// - Parameters:
    ///   - target: As it goes over the wire, percent-encoded. Whatever may not stand in it is percent-encoded here, so that nothing
    ///     else begins with it.
    ///   - body: `nil` when there is none; else its length is told.
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
