/// The zones that a request may name, spelt exactly.
///
/// PostgreSQL itself would also take abbreviations, POSIX rules and what looks like one (`UTC+9`, with the sign turned
/// round).
package struct TimeZoneNames: Sendable {
    private let names: Set<String>

    /// From the names of PostgreSQL's files: what isn't an IANA name is left out.
    package init(_ names: some Sequence<String>) {
        let foreign: Set<String> = ["posixrules", "localtime", "Factory"]
        self.names = Set(names.filter { !foreign.contains($0) && !$0.hasPrefix("posix/") && !$0.hasPrefix("right/") })
    }

    package var count: Int { names.count }

    /// Byte for byte: to Swift, strings that are canonically equivalent are equal (a Kelvin sign is a K).
    package func contains(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 < 0x80 } && names.contains(name)
    }
}
