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
