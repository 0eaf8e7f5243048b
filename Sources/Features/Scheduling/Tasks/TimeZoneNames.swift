/// The time zones that a request may name, with exact spelling.
///
/// PostgreSQL itself would also accept abbreviations and POSIX rules, such as `UTC+9`, whose sign is reversed.
package struct TimeZoneNames: Sendable {
    private let names: Set<String>

    /// Creates it from the names of PostgreSQL's files, without those that aren't IANA names.
    package init(_ names: some Sequence<String>) {
        let foreign: Set<String> = ["posixrules", "localtime", "Factory"]
        self.names = Set(names.filter { !foreign.contains($0) && !$0.hasPrefix("posix/") && !$0.hasPrefix("right/") })
    }

    package var count: Int { names.count }

    /// Compares bytes, because Swift's strings are equal if they are canonically equivalent: a Kelvin sign is a K.
    package func contains(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 < 0x80 } && names.contains(name)
    }
}
