import Foundation
import TestSupport
import Testing

/// The benchmark itself, run for a moment. It fails unless every due frame arrived exactly once.
@Suite struct QuickRunTests {
    /// Runs the benchmark to its end.
    ///
    /// - Returns: Its output and its results.
    private func run(_ arguments: [String]) async throws -> (output: String, results: TestJSON) {
        let file = NSTemporaryDirectory() + "bench-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let directory = URL(filePath: try DaemonProcess.executable()).deletingLastPathComponent()
        let process = try await ChildProcess.start(
            directory.appending(path: "letsswitch-bench").path, arguments + ["--json", file],
            environment: DaemonProcess.cleanEnvironment())
        let status = try await process.waitForExit()
        let output = process.lines.all.map(\.text).joined(separator: "\n")
        try #require(status == .exited(0), "\(output)")
        return (output, try TestJSON(parsing: Array(try Data(contentsOf: URL(filePath: file)))))
    }

    @Test("A quick run counts correctly and writes its results as JSON")
    func quick() async throws {
        let (output, report) = try await run(["--quick", "--only", "ale-2,every,visit,healthz,refusal"])
        let rows = try #require(report["rows"].array)
        #expect(rows.compactMap { $0["id"].string } == ["ale-2", "every-10", "visit", "healthz", "refusal"])
        for row in rows {
            for server in ["daemon", "baseline"] {
                let figures = row[server]
                // The cost of a short run can be less than one tick of the kernel's clock.
                #expect(try #require(figures["cost"].number) >= 0)
                #expect(try #require(figures["rate"].number) > 0)
                #expect(try #require(figures["p50"].number) <= #require(figures["p99"].number))
            }
            #expect(try #require(row["ratio"].number) >= 0)
        }
        #expect(output.contains("one ale in flight, K = 2"))
    }

    @Test("The benchmark compares idle Action Cable connections with plain ones")
    func cable() async throws {
        let (output, report) = try await run(["--quick", "--only", "cable"])
        let rows = try #require(report["rows"].array)
        #expect(rows.compactMap { $0["id"].string } == ["cable-idle", "cable-pings"])
        for server in ["daemon", "baseline"] {
            #expect(try #require(rows[0][server]["cost"].number) > 0)
            // Every peer was pinged, but not continuously.
            let pings = try #require(rows[1][server]["rate"].number)
            #expect(pings > 50 && pings < 1_000)
        }
        #expect(output.contains("idle on /cable, 400 open"))
    }

    @Test("Two daemons on one database neither lose nor repeat ales")
    func bus() async throws {
        let (output, report) = try await run(["bus", "--quick", "--only", "apart,cross"])
        let rows = try #require(report["rows"].array)
        #expect(rows.compactMap { $0["id"].string } == ["apart-2", "apart-10", "cross-2-10", "relays-2-10"])
        try expectWhole(rows, crossing: 2...3)
        #expect(output.contains("2 daemons, 10 rooms (floor: NOTIFY alone)"))
    }

    @Test("In a large question session every page shows every question and every vote")
    func questions() async throws {
        let (output, report) = try await run(["questions", "--quick"])
        #expect(output.contains("Questions: 20 people in a session, 10 questions and 100 votes"))
        let findings = try #require(report["findings"].array)
        for (what, count) in [("questions on pages", 200), ("votes on pages", 2_000)] as [(TestJSON, TestJSON)] {
            #expect(findings.first { $0["what"] == what }?["value"] == count)
        }
    }

    @Test(
        "Two daemons connected by RabbitMQ neither lose nor repeat ales",
        .enabled(if: TestBroker.runs, Comment(rawValue: TestBroker.whySkipped)))
    func busOverRabbitMQ() async throws {
        let (output, report) = try await run(["bus", "--quick", "--only", "amqp"])
        let rows = try #require(report["rows"].array)
        #expect(rows.compactMap { $0["id"].string } == ["amqp-2-10"])
        try expectWhole(rows, crossing: 0...0)
        #expect(output.contains("2 daemons, 10 rooms (floor: RabbitMQ alone)"))
    }

    private func expectWhole(_ rows: [TestJSON], crossing: ClosedRange<Int>) throws {
        for row in rows {
            for server in ["daemons", "floor"] { #expect(try #require(row[server]["rate"].number) > 0) }
            for count in ["missing", "surplus", "lost"] { #expect(row[count].int == 0) }
        }
        for row in rows[crossing] {
            for wait in ["p50", "p99", "floorP50", "floorP99"] { #expect(try #require(row[wait].number) > 0) }
        }
    }

    @Test("The benchmark compares conversations with pgbench")
    func talk() async throws {
        let (_, report) = try await run(["talk", "--quick"])
        let findings = try #require(report["findings"].array)
        func value(_ what: String) throws -> Double {
            try #require(findings.first { $0["what"].string == what }?["value"].number, "\(what)")
        }
        for what in ["pgbench", "POST /messages", "send by a socket"] { #expect(try value(what) > 0) }
        for groups in 1...2 {
            let what = "\(groups) × 5 participants, 50 messages a second"
            #expect(try value("\(what): received") == 250)
            #expect(try value("\(what): received, p50") <= value("\(what): received, p99"))
        }
    }

    @Test("No call into the database scans a whole table")
    func stored() async throws {
        let (_, report) = try await run(["stored", "--quick"])
        let findings = try #require(report["findings"].array)
        func value(_ what: String) throws -> Double {
            try #require(findings.first { $0["what"].string == what }?["value"].number)
        }
        #expect(try value("index scans in them") > 20)
        #expect(try value("sequential scans of tables in them") == 0)
    }
}
