import COpenSSL

/// An error of OpenSSL: an invalid key, a point off the curve, no memory.
package struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    /// One line: the attempt, and OpenSSL's reasons. Contains no key.
    package let description: String

    /// Takes the thread's errors out of OpenSSL's queue, where they would be taken for errors of the next call.
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
