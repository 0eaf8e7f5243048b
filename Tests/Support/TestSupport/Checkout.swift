package import Foundation

/// The repository of which the tests were built.
package enum Checkout {
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// A file or a folder of it, by its path from the top.
    package static func url(_ path: String) -> URL { root.appending(path: path) }

    /// A file's text, by its path from the top.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: url(path), encoding: .utf8)
    }
}
