import COpenSSL

/// An error of OpenSSL, such as an invalid key, a point off the curve, or exhausted memory.
package struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line with the attempted operation and OpenSSL's reasons. It contains no key.
    package let description: String

    /// Removes this thread's errors from OpenSSL's queue. Otherwise the next call would report them as its own.
    init(_ attempt: String) {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            let reason =
                ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(String(code, radix: 16))"
            if reasons.count < 4, reasons.last != reason { reasons.append(reason) }
        }
        description = reasons.isEmpty ? attempt : "\(attempt): \(reasons.joined(separator: "; "))"
    }
}
