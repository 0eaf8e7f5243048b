import Foundation
import TestSupport
import Testing

/// The benchmark itself, run for a moment: its own checks (every frame due arrived exactly once) decide whether it succeeds.
@Suite struct QuickRunTests {
    @Test("A quick run counts right and writes its results as JSON")
    func quick() async throws {
        let file = NSTemporaryDirectory() + "bench-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let directory = URL(filePath: try DaemonProcess.executable()).deletingLastPathComponent()
        let process = try await ChildProcess.start(
            directory.appending(path: "letsswitch-bench").path,
            ["--quick", "--only", "ale-2,every,visit,healthz", "--json", file],
            environment: DaemonProcess.cleanEnvironment())
        let status = try await process.waitForExit(within: .seconds(120))
        let output = process.lines.all.map(\.text).joined(separator: "\n")
        #expect(status == .exited(0), "\(output)")

        let report = try TestJSON(parsing: Array(try Data(contentsOf: URL(filePath: file))))
        let rows = try #require(report["rows"].array)
        #expect(rows.compactMap { $0["id"].string } == ["ale-2", "every-10", "visit", "healthz"])
        for row in rows {
            for server in ["daemon", "baseline"] {
                let figures = row[server]
                #expect(try #require(figures["cost"].number) > 0)
                #expect(try #require(figures["rate"].number) > 0)
                #expect(try #require(figures["p50"].number) <= #require(figures["p99"].number))
            }
            #expect(try #require(row["ratio"].number) > 0)
        }
        #expect(output.contains("one ale in flight, K = 2"))
    }
}
