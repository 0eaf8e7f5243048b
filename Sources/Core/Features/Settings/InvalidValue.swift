/// The reason why the value of a setting is invalid. The caller adds the name of the flag or the variable in front.
package struct InvalidValue: Error, Sendable, Equatable {
    package let reason: String

    package init(_ text: some StringProtocol, _ reason: String) {
        self.reason = "\"\(text)\": \(reason)"
    }

    /// Creates the reason why a value with a host name is invalid. If the name isn't ASCII, the reason also asks for the
    /// form that clients send, which begins with xn-- (RFC 5890 §2.3.2.1).
    package init(host text: some StringProtocol, _ reason: String) {
        let hint = text.utf8.allSatisfy { $0 < 0x80 } ? "" : ", with the xn-- form of names that aren't ASCII"
        self.init(text, reason + hint)
    }

    /// Creates the reason for a value that must not be repeated, such as one with a password.
    package init(secret reason: String) {
        self.reason = reason
    }
}
