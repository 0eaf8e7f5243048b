import Access
import Control
@preconcurrency import Glibc
import LetsSwitch
import Settings
import Sockets

/// The process: what arguments and environment ask for, done; its outcome, the exit status.
@main
enum Letsswitchd {
    static func main() async {
        // Before there is a second thread.
        ProcessPrivileges.drop()
        // Before libpq or libcurl uses it.
        TLSLibrary.keepUntilExit()
        // A reader of the log, or a peer, that goes away must not end the daemon: the write's own error is handled.
        signal(SIGPIPE, SIG_IGN)
        let parser = CommandLineParser(environment: environment())
        // Children of the daemon must not speak to systemd for it. No other thread reads the environment yet.
        unsetenv("NOTIFY_SOCKET")
        do {
            switch try parser.parse(Array(CommandLine.arguments.dropFirst())) {
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

    /// For people on a terminal, for programs elsewhere.
    private static var layout: InspectionCommand.Layout { isatty(STDOUT_FILENO) == 1 ? .table : .lines }

    private static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        return variables
    }

    /// - Returns: Whether all of it was written.
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
