import Glibc

/// The arguments and the environment of this process.
///
/// Text that isn't UTF-8 is refused. Swift's `CommandLine.arguments` would replace the invalid bytes by U+FFFD, so the
/// program would store or compare a different text.
package enum ProcessText {
    /// The error for an argument or a variable that isn't UTF-8. The error doesn't contain the value, which may be a
    /// secret.
    package struct EncodingError: Error, CustomStringConvertible {
        fileprivate let subject: String
        package var description: String { "\(subject) isn't UTF-8 text; set the terminal or the script to UTF-8" }
    }

    /// Returns the arguments without the program's name.
    package static func arguments() throws(EncodingError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[index] else { break }
            guard let text = String(validatingCString: bytes) else {
                throw EncodingError(subject: "argument \(index)")
            }
            arguments.append(text)
        }
        return arguments
    }

    /// Returns the environment. A variable may have bytes that aren't UTF-8, unless the program reads it.
    ///
    /// - Parameter isRead: Returns whether the program reads the variable with this name.
    package static func environment(
        _ entries: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, isRead: (String) -> Bool
    ) throws(EncodingError) -> [String: String] {
        var variables: [String: String] = [:]
        var next = entries
        while let entry = next.pointee {
            next += 1
            let text = String(cString: entry)
            guard let equals = text.firstIndex(of: "=") else { continue }
            let name = String(text[..<equals])
            guard String(validatingCString: entry) != nil || !isRead(name) else {
                throw EncodingError(subject: "the environment variable \(name)")
            }
            variables[name] = String(text[text.index(after: equals)...])
        }
        return variables
    }
}
