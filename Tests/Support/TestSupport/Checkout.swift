package import Foundation

/// The repository from which the tests were built.
package enum Checkout {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the URL of a file or folder, by its path from the repository's root.
    package static func url(_ path: String) -> URL { root.appending(path: path) }

    /// Returns a file's text, by its path from the repository's root.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: url(path), encoding: .utf8)
    }
}
