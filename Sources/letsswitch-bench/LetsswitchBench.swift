@preconcurrency import Glibc

/// The process: what the command line asks for, measured; its outcome, the exit status.
@main
enum LetsswitchBench {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            guard !options.wantsHelp else { return Terminal.print(Options.help) }
            if options.command == .relay { return try RelayServer.run() }
            try await measure(options)
        } catch {
            Terminal.note("letsswitch-bench: \(error)")
            exit(EXIT_FAILURE)
        }
    }

    private static func measure(_ options: Options) async throws {
        let laboratory = try await Laboratory(options, isDurable: options.command != .table)
        do {
            let report = try TableBenchmark(laboratory: laboratory).run()
            await laboratory.close()
            Terminal.print(report.render())
            if let path = options.json { try report.write(to: path) }
        } catch {
            await laboratory.close()
            throw error
        }
    }
}
