/// Why a setting's value is refused. The one who knows whether it came by a flag or a variable puts that before it.
package struct InvalidValue: Error, Sendable, Equatable {
    package let reason: String

    init(_ text: some StringProtocol, _ reason: String) {
        self.reason = "\"\(text)\": \(reason)"
    }

    /// For a value that must not be repeated, such as one that may hold a password.
    init(secret reason: String) {
        self.reason = reason
    }
}
