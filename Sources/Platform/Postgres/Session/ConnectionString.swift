import CLibpq

/// A connection string: a `postgresql://` URL, or libpq's `key=value` form. It may contain a password, so it must never
/// be printed.
package enum ConnectionString {
    /// The schemes of a URL.
    package static let schemes = ["postgresql://", "postgres://"]

    /// Whether libpq can parse the text correctly. If libpq took a part of a password for a host or another value, its
    /// errors would quote that part, and errors are logged.
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

    /// Whether a value is plausible for a keyword. An `@`, `/` or `?` in a URL's user or password must be written as
    /// `%40`, `%2F` or `%3F`. Otherwise the user or password ends there, and libpq takes the rest for a host, port or
    /// database.
    private static func isPlausible(_ value: String, as keyword: String, isURL: Bool) -> Bool {
        switch keyword {
        // An `@` at the beginning is valid: it names an abstract socket.
        case "host": value.split(separator: ",").allSatisfy { !$0.dropFirst().contains("@") }
        case "port": value.split(separator: ",").allSatisfy { UInt16($0) != nil }
        case "dbname": !isURL || !value.contains("@")
        case "user": !isURL || !value.contains("?")
        default: true
        }
    }
}
