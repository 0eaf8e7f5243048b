import COpenSSL
import Glibc

/// OpenSSL's own errors: it keeps them in a queue of the thread, and one that is left there is taken for the next
/// call's. So the queue is cleared before every call whose outcome depends on it, and read after each failure.
enum TLSErrorQueue {
    /// Forgets what calls before left behind, libpq's on the same thread among them.
    static func clear() {
        ERR_clear_error()
    }

    /// The first error's code, 0 if there is none. What it was caused by comes before what it caused.
    static var first: UInt { ERR_peek_error() }

    /// Takes all errors, in words: `wrong version number`, or several, split by semicolons. Empty if there are none.
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
