package import Domain

/// A row of the table of settings: its names, its help, and functions that read and show its value. `Values` is the
/// struct that receives the value, such as the settings of a feature.
///
/// `--help`, the parser and the check for mistyped variables read the same rows.
package struct Setting<Values: SettingValues>: Sendable {
    package typealias Field<Value> = any WritableKeyPath<Values, Value> & Sendable
    package typealias Apply = @Sendable (inout Values, [String]) throws(InvalidValue) -> Void

    /// The name without dashes.
    package let name: String
    package let section: SettingSection
    package let kind: SettingKind
    package let help: String
    /// The default as it is written on the command line, or a description of it.
    package let defaultText: String
    package private(set) var secrecy = SettingSecrecy.none
    /// Set if this setting names a file: the name of the setting whose value the file contains.
    package let standsFor: String?
    /// Applies one value, or all values of a repeatable flag.
    package let apply: Apply

    package init(
        name: String, section: SettingSection, kind: SettingKind, help: String, defaultText: String,
        standsFor: String? = nil, apply: @escaping Apply
    ) {
        self.name = name
        self.section = section
        self.kind = kind
        self.help = help
        self.defaultText = defaultText
        self.standsFor = standsFor
        self.apply = apply
    }

    package var flag: String { "--\(name)" }

    package var variable: String {
        Self.variablePrefix + name.uppercased().split(separator: "-").joined(separator: "_")
    }

    package static var variablePrefix: String { "LETSSWITCH_" }

    /// Returns the values in the text of a variable. Only a repeatable setting can have several.
    package func values(ofVariable text: String) -> [String] {
        guard case .values = kind else { return text.isEmpty ? [] : [text] }
        return text.split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    }

    /// This setting, whose value may also come from `--…-file`, from `LETSSWITCH_…_FILE` or from a credential.
    package var allowedInFile: Setting { with(.value) }

    /// This setting, whose file may also be a credential.
    package var mayBeCredential: Setting { with(.file) }

    private func with(_ secrecy: SettingSecrecy) -> Setting {
        var setting = self
        setting.secrecy = secrecy
        return setting
    }

    /// Returns the setting of a larger struct that contains `Values` at `field`.
    package func lifted<Whole>(_ field: Setting<Whole>.Field<Values>) -> Setting<Whole> {
        let setting = Setting<Whole>(
            name: name, section: section, kind: kind, help: help, defaultText: defaultText, standsFor: standsFor
        ) { whole, values throws(InvalidValue) in
            try apply(&whole[keyPath: field], values)
        }
        return setting.with(secrecy)
    }
}

/// A struct that receives the values of settings. Its `init()` sets the defaults.
package protocol SettingValues: Sendable {
    init()
}

extension StorageLimits: SettingValues {}

/// The group of a setting in `--help`, in the order of the groups.
package enum SettingSection: String, Sendable, CaseIterable {
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

/// The number and the form of a setting's values.
package enum SettingKind: Sendable, Equatable {
    case value(placeholder: String)
    /// May be given several times. The variable is a list separated by commas or spaces.
    case values(placeholder: String)
    /// The flag without a value means true.
    case boolean
}

/// The other sources of a secret value. Flags are visible in the list of processes, and child processes inherit
/// variables.
package enum SettingSecrecy: Sendable, Equatable {
    case none
    /// The value can come from a file, named by its own flag and variable, or from a credential.
    case value
    /// The value names a file. A credential can replace it.
    case file
}
