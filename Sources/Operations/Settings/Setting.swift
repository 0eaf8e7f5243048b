import Basics
import Observability

/// One row of the table of settings: its names, its help, how its value is read and shown.
///
/// `--help`, the parser and the check for mistyped variables all read the same rows, so none can disagree.
package struct Setting: Sendable {
    /// Where `--help` shows it.
    package enum Section: String, Sendable, CaseIterable {
        case service = "Service"
        case tls = "TLS"
        case schedule = "Schedule and rooms"
        case tickets = "Tickets"
        case bus = "Other daemons"
        case providers = "Providers"
        case network = "Proxies and browsers"
        case limits = "Limits"
        case waits = "Timeouts"
        case database = "Database limits"
        case log = "Log"
    }

    /// What follows the flag.
    enum Kind: Sendable, Equatable {
        case value(placeholder: String)
        /// Given several times, all count; a variable holds several, split by commas or spaces.
        case values(placeholder: String)
        /// The flag alone means true.
        case boolean
    }

    /// Where else its value may come from, being a secret: whoever may list processes sees flags, and what a process starts has
    /// its variables.
    enum Secrecy: Sendable, Equatable {
        case none
        /// From a file, which a flag and a variable of their own name, or from a credential.
        case value
        /// The value names a file; so may a credential.
        case file
    }

    typealias Apply = @Sendable (inout Configuration, [String]) throws(InvalidValue) -> Void

    /// Without the dashes.
    package let name: String
    let section: Section
    let kind: Kind
    package let help: String
    /// As one would write it on the command line, or in words.
    package let defaultText: String
    var secrecy = Secrecy.none
    /// The setting whose value stands in the file that this one names.
    var standsFor: String?
    /// Gets one value, or all of a repeatable flag.
    let apply: Apply

    package var flag: String { "--\(name)" }

    package var variable: String {
        Setting.variablePrefix + name.uppercased().split(separator: "-").joined(separator: "_")
    }

    static let variablePrefix = "LETSSWITCH_"

    /// The values that the variable holds: one, but for a repeatable setting.
    func values(ofVariable text: String) -> [String] {
        guard case .values = kind else { return text.isEmpty ? [] : [text] }
        return text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    }
}
