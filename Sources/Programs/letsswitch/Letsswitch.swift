import Basics
import Glibc

/// The command `letsswitch`: tasks, reminders, rooms, questions and conversations in a terminal.
@main
struct Letsswitch {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let parsed = try ParsedCommand(
                try ProcessText.arguments(), environment: { Environment.value($0) },
                serverFile: { ServerFile(environment: Environment.value)?.read() })
            let status = await CommandRun(parsed, output: Output()).perform()
            exit(status.rawValue)
        } catch {
            Output().writeError("letsswitch: \(error)\nRun letsswitch --help for the commands and options.")
            exit(ExitCode.usage.rawValue)
        }
    }
}

enum Environment {
    /// Returns a variable's value, or `nil` if it is missing or empty.
    static func value(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
