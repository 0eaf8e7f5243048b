import Basics

/// A small file with a secret.
package enum SecretFile {

    package enum Failure: Error, Hashable, CustomStringConvertible {
        case unreadable(String)
        case tooLong
        case empty

        package var description: String {
            switch self {
            case .unreadable(let reason): "can't be read: \(reason)"
            case .tooLong: "is too long"
            case .empty: "is empty"
            }
        }
    }

    /// Returns the file's text without surrounding blanks and line breaks. Blocks the thread.
    ///
    /// - Parameter maximumBytes: The maximum size. A larger file is refused.
    package static func read(_ path: String, maximumBytes: Int = 65_536) throws(Failure) -> String {
        let text: String
        do throws(WholeFile.Failure) {
            text = try WholeFile(path, limit: maximumBytes, isRegular: false).text
        } catch {
            if case .tooLarge = error { throw .tooLong }
            throw .unreadable("\(error)")
        }
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { throw .empty }
        return String(text[first...last])
    }
}
