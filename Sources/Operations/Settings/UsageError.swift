import Features

/// An invalid command line or environment. The message goes to standard error.
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

    init(_ conflict: SettingConflict) {
        description = conflict.description
    }
}
