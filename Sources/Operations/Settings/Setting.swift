import Basics
import Observability

/// A row of the table of settings: its names, its help, and how its value is read and shown.
///
/// `--help`, the parser and the check for mistyped variables read the same rows.
package struct Setting: Sendable {
    /// The group in `--help`.
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

    /// The value of a flag.
    enum Kind: Sendable, Equatable {
        case value(placeholder: String)
        /// May be given several times. The variable is a list separated by commas or spaces.
        case values(placeholder: String)
        /// The flag without a value means true.
        case boolean
    }

    /// The other sources of a secret value. Flags are visible in the list of processes, and child processes inherit
    /// variables.
    enum Secrecy: Sendable, Equatable {
        case none
        /// The value can come from a file, named by its own flag and variable, or from a credential.
        case value
        /// The value names a file. A credential can replace it.
        case file
    }

    typealias Apply = @Sendable (inout Configuration, [String]) throws(InvalidValue) -> Void

    /// The name without dashes.
    package let name: String
    let section: Section
    let kind: Kind
    package let help: String
    /// The default as it is written on the command line, or in words.
    package let defaultText: String
    var secrecy = Secrecy.none
    /// The setting whose value is in the file that this setting names.
    var standsFor: String?
    /// Applies one value, or all values of a repeatable flag.
    let apply: Apply

    package var flag: String { "--\(name)" }

    package var variable: String {
        Setting.variablePrefix + name.uppercased().split(separator: "-").joined(separator: "_")
    }

    static let variablePrefix = "LETSSWITCH_"

    /// Returns the values in the text of a variable. Only a repeatable setting can have several.
    func values(ofVariable text: String) -> [String] {
        guard case .values = kind else { return text.isEmpty ? [] : [text] }
        return text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    }
}
