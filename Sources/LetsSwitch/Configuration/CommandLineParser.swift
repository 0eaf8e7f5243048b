/// Turns arguments and environment into what is to be done. Pure: prints nothing, reads nothing.
///
/// A flag wins over its variable, the variable over the default. A variable that is empty counts as not set.
package struct CommandLineParser: Sendable {
    /// What the arguments ask for.
    package enum Command: Sendable, Equatable {
        case serve(Configuration)
        /// Say whether it could serve.
        case check(Configuration)
        case help
        case version
    }

    private let settings: [Setting]
    private let environment: [String: String]

    package init(environment: [String: String]) {
        self.settings = Setting.all
        self.environment = environment
    }

    /// - Parameter arguments: Without the program's name.
    /// - Throws: ``UsageError``, of which the first found is told.
    package func parse(_ arguments: [String]) throws(UsageError) -> Command {
        // Asking for help is never answered by complaints about the rest.
        if arguments.contains("--help") || arguments.contains("-h") { return .help }
        if arguments.contains("--version") { return .version }
        let command = arguments.first.flatMap { Self.commands.contains($0) ? $0 : nil }
        let given = try valuesByFlag(arguments.dropFirst(command == nil ? 0 : 1))
        var configuration = try Configuration(environment: environment)
        for setting in settings {
            do {
                if let values = given[setting.name] {
                    try setting.apply(&configuration, values)
                    continue
                }
            } catch {
                throw UsageError(source: setting.flag, error)
            }
            do {
                guard let text = environment[setting.variable], !text.isEmpty else { continue }
                let values = setting.values(ofVariable: text)
                guard !values.isEmpty else { continue }
                try setting.apply(&configuration, values)
            } catch {
                throw UsageError(source: setting.variable, error)
            }
        }
        try configuration.checkCombinations()
        configuration.warnings = unknownVariables()
        return command == "check" ? .check(configuration) : .serve(configuration)
    }

    private static let commands = ["serve", "check"]

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
        return UsageError("unexpected argument \"\(argument)\" (the commands are serve and check)")
    }

    private func unknownFlag(_ name: String) -> UsageError {
        let known = settings.map(\.name) + ["help", "version"]
        guard let near = Spelling.nearest(to: name, among: known) else { return UsageError("unknown flag --\(name)") }
        return UsageError("unknown flag --\(name) (did you mean --\(near)?)")
    }

    /// A mistyped variable is the most common misconfiguration, and otherwise passes in silence.
    private func unknownVariables() -> [String] {
        let known = settings.map(\.variable)
        return environment.keys.filter { $0.hasPrefix(Setting.variablePrefix) && !known.contains($0) }.sorted().map {
            let near = Spelling.nearest(to: $0, among: known).map { " (did you mean \($0)?)" } ?? ""
            return "the environment variable \($0) is unknown\(near)"
        }
    }
}
