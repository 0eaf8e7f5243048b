import CLibpq

/// A connection string: a `postgresql://` URL, or libpq's `key=value` form. It may hold a password: never to be repeated.
package enum ConnectionString {
    /// What makes one a URL.
    package static let schemes = ["postgresql://", "postgres://"]

    /// Whether libpq reads it, and takes no part of a password for something else: its errors, which are logged, quote what they
    /// complain of.
    package static func isReadable(_ text: String) -> Bool {
        guard let options = PQconninfoParse(text, nil) else { return false }
        defer { PQconninfoFree(options) }
        let isURL = schemes.contains { text.hasPrefix($0) }
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val,
                !isPlausible(String(cString: value), as: String(cString: keyword), isURL: isURL)
            {
                return false
            }
            next += 1
        }
        return true
    }

    /// An `@`, `/` or `?` that isn't written as `%40`, `%2F` or `%3F` in a URL's user or password ends them early, and what is behind
    /// it counts as a host, a port, a database.
    private static func isPlausible(_ value: String, as keyword: String, isURL: Bool) -> Bool {
        switch keyword {
        // One at the beginning names a socket without a file.
        case "host": value.split(separator: ",").allSatisfy { !$0.dropFirst().contains("@") }
        case "port": value.split(separator: ",").allSatisfy { UInt16($0) != nil }
        case "dbname": !isURL || !value.contains("@")
        case "user": !isURL || !value.contains("?")
        default: true
        }
    }
}
