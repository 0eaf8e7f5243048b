package import Domain

/// The time zones that a request may name. As in IANA's database, a name's case doesn't matter.
///
/// PostgreSQL itself would also accept abbreviations and POSIX rules, such as `UTC+9`, whose sign is reversed.
package struct TimeZoneNames: Sendable {
    /// The names by their lowercase form.
    private let names: [String: String]

    /// Creates the list from PostgreSQL's `pg_timezone_names`, without the names that aren't IANA names.
    package init(_ names: some Sequence<String>) {
        let foreign: Set<String> = ["posixrules", "localtime", "Factory"]
        let known = names.filter { !foreign.contains($0) && !$0.hasPrefix("posix/") && !$0.hasPrefix("right/") }
        self.names = Dictionary(known.map { ($0.lowercased(), $0) }) { first, _ in first }
    }

    package var count: Int { names.count }

    /// Returns the name as IANA spells it, or `nil` if it is unknown. Only ASCII is accepted, because the lowercase
    /// form of the Kelvin sign is the letter k.
    package func spelling(of name: String) -> String? {
        name.utf8.allSatisfy { $0 < 0x80 } ? names[name.lowercased()] : nil
    }

    /// Returns the name as IANA spells it.
    ///
    /// - Throws: `invalid_request` if it is unknown.
    package func known(_ name: String) throws(RequestError) -> String {
        guard let spelling = spelling(of: name) else {
            throw .invalid("timeZone", "must be an IANA name like Europe/London")
        }
        return spelling
    }
}
