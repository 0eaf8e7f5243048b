import Basics

/// A file that is read as a whole, such as a setting.
enum SmallFile {
    /// The maximum number of bytes: twice the size of tzdata's list of all zones.
    private static let maximumBytes = 256 * 1024

    /// Returns the content, or `nil` if the file is missing, unreadable, larger than the limit, or not a regular file.
    static func read(_ path: String) -> [UInt8]? {
        (try? WholeFile(path, limit: maximumBytes))?.bytes
    }
}
