@preconcurrency import Glibc

/// The benchmark's process: runs the command of the command line and exits with its status.
@main
enum LetsswitchBench {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            guard !options.wantsHelp else { return Terminal.print(Options.help) }
            if options.command == .relay {
                return try RelayServer.run(bus: options.relayBus, pings: options.relayPings)
            }
            try measure(options)
        } catch {
            Terminal.note("letsswitch-bench: \(error)")
            exit(EXIT_FAILURE)
        }
    }

    private static func measure(_ options: Options) throws {
        // If commits didn't wait for the disk, registrations would look cheaper than they are.
        let laboratory = try Laboratory(options, isDurable: options.command != .table)
        do {
            try measure(options, in: laboratory)
            laboratory.close()
        } catch {
            laboratory.close()
            throw error
        }
    }

    private static func measure(_ options: Options, in laboratory: Laboratory) throws {
        let report: any Encodable
        switch options.command {
        case .table, .relay:
            let table = try TableBenchmark(laboratory: laboratory).run()
            Terminal.print(table.render())
            report = table
        case .hour:
            let findings = try HourBenchmark(laboratory: laboratory).run()
            Terminal.print(findings.render())
            report = findings
        case .registrations:
            let findings = try RegistrationsBenchmark(laboratory: laboratory).run()
            Terminal.print(findings.render())
            report = findings
        case .stored:
            let findings = try StoredBenchmark(laboratory: laboratory).run()
            Terminal.print(findings.render())
            report = findings
        case .talk:
            let findings = try TalkBenchmark(laboratory: laboratory).run()
            Terminal.print(findings.render())
            report = findings
        case .bus:
            let bus = try BusBenchmark(laboratory: laboratory).run()
            Terminal.print(bus.render())
            report = bus
        case .questions:
            let findings = try QuestionBenchmark(laboratory: laboratory).run()
            Terminal.print(findings.render())
            report = findings
        }
        if let path = options.json { try report.writeJSON(to: path) }
    }
}
