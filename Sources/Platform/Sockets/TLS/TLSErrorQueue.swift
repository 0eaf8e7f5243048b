import COpenSSL
import Glibc

/// OpenSSL's errors, which OpenSSL keeps in a queue for each thread. An old error would look like an error of the next
/// call. The queue is therefore cleared before every call whose outcome depends on it, and read after each failure.
enum TLSErrorQueue {
    /// Removes errors of earlier calls, including libpq's on the same thread.
    static func clear() {
        ERR_clear_error()
    }

    /// The code of the first error, or 0 if there is none. The cause of an error comes before its consequences.
    static var first: UInt { ERR_peek_error() }

    /// Removes all errors and returns their texts, separated by semicolons, such as `wrong version number`. Returns an
    /// empty text if there are no errors.
    static func take() -> String {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            let reason =
                ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(String(code, radix: 16))"
            if reasons.count < 4, reasons.last != reason { reasons.append(reason) }
        }
        return reasons.joined(separator: "; ")
    }
}
