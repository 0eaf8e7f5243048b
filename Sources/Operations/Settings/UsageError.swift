/// The command line or the environment asks for something that can't be: a message for standard error.
package struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// `EX_USAGE` of sysexits.
    package static let exitStatus: Int32 = 64

    /// One line, naming the flag or the variable.
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    init(source: String, _ value: InvalidValue) {
        description = "\(source): \(value.reason)"
    }
}

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
