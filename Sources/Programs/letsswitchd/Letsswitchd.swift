import Access
import Basics
import Control
@preconcurrency import Glibc
import LetsSwitch
import Settings
import Sockets

/// The daemon's process. It runs the command that the arguments and the environment select, and exits with the
/// command's status.
@main
enum Letsswitchd {
    static func main() async {
        // Runs before a second thread starts.
        ProcessPrivileges.drop()
        // Runs before libpq or libcurl uses TLS.
        TLSLibrary.keepUntilExit()
        // If a reader of the log or a peer disconnects, the daemon must not end. Each write handles its own error.
        signal(SIGPIPE, SIG_IGN)
        do {
            let parser = CommandLineParser(
                environment: try ProcessText.environment(environ, isRead: CommandLineParser.reads))
            // Child processes must not notify systemd for the daemon. No other thread reads the environment yet.
            for variable in ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"] { unsetenv(variable) }
            switch try parser.parse(try ProcessText.arguments()) {
            case .serve(let configuration):
                exit(await Daemon.run(configuration))
            case .check(let configuration):
                var check = ConfigurationCheck(of: configuration, at: Int64(time(nil)))
                await check.checkProviders(of: configuration)
                await check.checkBus(of: configuration)
                let status = show(check.report)
                exit(check.isPassed ? status : EXIT_FAILURE)
            case .ticket(let order, let settings):
                let token = try order.token(settings, at: Int64(time(nil)))
                exit(show(token + "\n"))
            case .backup(let order):
                let command = BackupCommand(order) { _ = print("letsswitchd: \($0)\n", to: STDERR_FILENO) }
                exit(await run { try await command.run() })
            case .inspect(let inspection, let configuration):
                exit(await run { try await InspectionCommand(inspection, configuration).run(layout) })
            case .control(let order, let socket):
                let note = { (sentence: String) in _ = print("letsswitchd: \(sentence)\n", to: STDERR_FILENO) }
                exit(
                    run {
                        try ControlCommand(order, socket: socket).run(layout, note: note) {
                            print($0, to: STDOUT_FILENO)
                        }
                    })
            case .help:
                exit(show(HelpText.render()))
            case .version:
                exit(show(ProductVersion.text))
            }
        } catch {
            _ = print("letsswitchd: \(error)\nletsswitchd --help lists the flags.\n", to: STDERR_FILENO)
            exit(UsageError.exitStatus)
        }
    }

    private static func run(_ command: @Sendable () async throws -> String) async -> Int32 {
        do {
            return show(try await command())
        } catch {
            _ = print("letsswitchd: \(error)\n", to: STDERR_FILENO)
            return EXIT_FAILURE
        }
    }

    private static func run(_ command: () throws -> Void) -> Int32 {
        do {
            try command()
            return EXIT_SUCCESS
        } catch {
            _ = print("letsswitchd: \(error)\n", to: STDERR_FILENO)
            return EXIT_FAILURE
        }
    }

    private static func show(_ text: String) -> Int32 {
        guard !print(text, to: STDOUT_FILENO) else { return EXIT_SUCCESS }
        _ = print("letsswitchd: the output can't be written\n", to: STDERR_FILENO)
        return EXIT_FAILURE
    }

    /// The layout of output: a table on a terminal, otherwise lines for programs.
    private static var layout: InspectionCommand.Layout { isatty(STDOUT_FILENO) == 1 ? .table : .lines }

    /// - Returns: Whether everything was written.
    private static func print(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
