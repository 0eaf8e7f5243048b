package import Access
import Features
import Glibc
import Notifications

/// Turns arguments and environment into a command. Prints nothing, and reads only files that contain secrets.
///
/// A flag overrides its variable, a variable overrides a systemd credential, and a credential overrides the default. An
/// empty variable counts as not set.
package struct CommandLineParser: Sendable {
    /// The command that the arguments name.
    package enum Command: Sendable, Equatable {
        case serve(Configuration)
        /// Check whether the daemon can serve.
        case check(Configuration)
        /// Print a ticket.
        case ticket(TicketOrder, TicketSettings)
        /// Write the private cluster's database to a file, or read it from a file.
        case backup(BackupOrder)
        /// Show what the database contains.
        case inspect(Inspection, Configuration)
        /// Send the order to the daemon that listens at this path.
        case control(ControlOrder, socket: String)
        case help
        case version
    }

    private let settings: [Setting<Configuration>]
    private let environment: [String: String]

    package init(environment: [String: String]) {
        self.settings = SettingTable.all
        self.environment = environment
    }

    /// - Parameter arguments: The arguments without the program's name.
    /// - Throws: The first ``UsageError``.
    package func parse(_ arguments: [String]) throws(UsageError) -> Command {
        // With --help, errors in the other arguments aren't reported.
        if arguments.contains("--help") || arguments.contains("-h") { return .help }
        if arguments.contains("--version") { return .version }
        let command = arguments.first.flatMap { Self.commands.contains($0) ? $0 : nil }
        var flags = arguments.dropFirst(command == nil ? 0 : 1)
        var order: TicketOrder?
        if command == "ticket" {
            let arguments = try TicketArguments(flags)
            order = arguments.order
            flags = arguments.rest[...]
        }
        let direction = command.flatMap { BackupOrder.Direction(rawValue: $0) }
        let file: String? = if let direction { try BackupOrder.file(&flags, direction) } else { nil }
        var control: ControlOrder?
        if let name = command.flatMap({ ControlOrder.Name(rawValue: $0) }) {
            let arguments = try ControlArguments(name, flags)
            control = arguments.order
            flags = arguments.rest
        }
        let given = try valuesByFlag(flags)
        var configuration = try Configuration(environment: environment)
        for setting in settings where setting.standsFor == nil {
            guard let choice = try choice(of: setting, given) else { continue }
            do {
                try choice.form.apply(&configuration, choice.values)
            } catch {
                throw UsageError(source: choice.source, error)
            }
        }
        try configuration.checkCombinations()
        configuration.warnings = unknownVariables() + configuration.providers.warnings
        if let order {
            guard !configuration.tickets.secrets.isEmpty else { throw UsageError("ticket: --ticket-secret is missing") }
            return .ticket(order, configuration.tickets)
        }
        if let direction, let file { return .backup(try BackupOrder(direction, file, configuration)) }
        if let control { return .control(control, socket: configuration.controlSocket) }
        if let inspection = command.flatMap({ Inspection(rawValue: $0) }) { return .inspect(inspection, configuration) }
        return command == "check" ? .check(configuration) : .serve(configuration)
    }

    /// Whether a setting comes from the environment variable of this name. libpq reads its own variables itself.
    package static func reads(_ name: String) -> Bool {
        name.hasPrefix(Setting<Configuration>.variablePrefix)
            || ["DATABASE_URL", "PORT", "STATE_DIRECTORY", "CREDENTIALS_DIRECTORY"].contains(name)
    }

    private static let commands =
        ["serve", "check", "ticket", "backup", "restore"] + Inspection.allCases.map(\.rawValue)
        + ControlOrder.Name.allCases.map(\.rawValue)

    /// The values of a setting, its form, and the name of its source.
    private struct Choice {
        let form: Setting<Configuration>
        let source: String
        let values: [String]
    }

    /// - Throws: ``UsageError`` if both a value and a file for it are given as flags, or both as variables.
    private func choice(of setting: Setting<Configuration>, _ given: [String: [String]]) throws(UsageError) -> Choice? {
        let forms = settings.filter { $0.name == setting.name || $0.standsFor == setting.name }
        let flags = forms.compactMap { form in
            given[form.name].map { Choice(form: form, source: form.flag, values: $0) }
        }
        let variables = forms.compactMap { form -> Choice? in
            let values = form.values(ofVariable: environment[form.variable] ?? "")
            return values.isEmpty ? nil : Choice(form: form, source: form.variable, values: values)
        }
        for choices in [flags, variables] {
            guard choices.count < 2 else {
                throw UsageError("\(choices[1].source): must not be given together with \(choices[0].source)")
            }
            if let choice = choices.first { return choice }
        }
        return credential(for: setting, forms.last ?? setting)
    }

    /// Returns the credential with the flag's name, from systemd.exec(5)'s `LoadCredential=tls-key:/etc/…`.
    private func credential(for setting: Setting<Configuration>, _ form: Setting<Configuration>) -> Choice? {
        guard setting.secrecy != .none, let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
            return nil
        }
        let path = "\(directory)/\(setting.name)"
        guard access(path, F_OK) == 0 else { return nil }
        return Choice(form: form, source: "credential \(setting.name)", values: [path])
    }

    private func valuesByFlag(_ arguments: ArraySlice<String>) throws(UsageError) -> [String: [String]] {
        var given: [String: [String]] = [:]
        var rest = arguments
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--"), argument != "--" else { throw unexpected(argument) }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            guard let setting = settings.first(where: { $0.name == name }) else { throw unknownFlag(name) }
            switch setting.kind {
            case .boolean:
                given[name] = [parts.count > 1 ? String(parts[1]) : "true"]
            case .value, .values:
                let value: String
                if parts.count > 1 {
                    value = String(parts[1])
                } else if let next = rest.first, !next.hasPrefix("--") {
                    value = next
                    rest.removeFirst()
                } else {
                    throw UsageError("\(setting.flag): a value is missing")
                }
                if case .values = setting.kind { given[name, default: []].append(value) } else { given[name] = [value] }
            }
        }
        return given
    }

    private func unexpected(_ argument: String) -> UsageError {
        guard !argument.hasPrefix("-") else { return UsageError("unknown flag \(argument)") }
        return UsageError(
            "unexpected argument \"\(argument)\" (the commands are \(Self.commands.joined(separator: ", ")))")
    }

    private func unknownFlag(_ name: String) -> UsageError {
        let known = settings.map(\.name) + ["help", "version"]
        guard let near = Spelling.nearest(to: name, among: known) else { return UsageError("unknown flag --\(name)") }
        return UsageError("unknown flag --\(name) (did you mean --\(near)?)")
    }

    /// Returns warnings about unknown variables. A mistyped variable is a common mistake, and would have no effect
    /// without a warning.
    private func unknownVariables() -> [String] {
        let known = settings.map(\.variable)
        return environment.keys.filter { $0.hasPrefix(Setting<Configuration>.variablePrefix) && !known.contains($0) }
            .sorted().map {
                let near = Spelling.nearest(to: $0, among: known).map { " (did you mean \($0)?)" } ?? ""
                return "the environment variable \($0) is unknown\(near)"
            }
    }
}
