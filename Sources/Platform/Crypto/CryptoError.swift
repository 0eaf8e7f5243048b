import COpenSSL

/// OpenSSL refused: a key that is none, a point that is off the curve, no memory.
package struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line: what was tried, and OpenSSL's reasons if it gave any. Holds no key.
    package let description: String

    /// Takes the thread's errors (OpenSSL keeps them in a queue, where the next call would find them).
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
