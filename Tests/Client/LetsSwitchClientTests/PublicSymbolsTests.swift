import Foundation
import TestSupport
import Testing

/// The library's public symbols, as the compiler reports them.
@Suite struct PublicSymbolsTests {
    private struct Graph: Decodable {
        let symbols: [Symbol]
    }

    private struct Symbol: Decodable {
        let pathComponents: [String]
        let docComment: Comment?
    }

    private struct Comment: Decodable {
        struct Line: Decodable { let text: String }
        let lines: [Line]
    }

    private static func symbols() async throws -> [Symbol] {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("symbols-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let built = URL(fileURLWithPath: try DaemonProcess.executable()).deletingLastPathComponent()
        let sources = Checkout.url("Sources")
        let libraries = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
        #if arch(arm64)
            let target = "aarch64-unknown-linux-gnu"
        #else
            let target = "x86_64-unknown-linux-gnu"
        #endif
        let process = try await ChildProcess.start(
            "/usr/bin/env",
            [
                "swift", "symbolgraph-extract", "-module-name", "LetsSwitchClient", "-target", target,
                "-I", built.appendingPathComponent("Modules").path, "-output-dir", directory.path,
                "-minimum-access-level", "public", "-skip-synthesized-members",
            ] + libraries.flatMap { ["-I", $0.path] }, environment: ProcessInfo.processInfo.environment)
        let status = try await process.waitForExit(within: .seconds(300))
        #expect(status == .exited(0), "\(process.lines.all.map(\.text))")
        let file = directory.appendingPathComponent("LetsSwitchClient.symbols.json")
        return try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file)).symbols
    }

    @Test("Every public symbol is documented, with an example")
    func documented() async throws {
        let symbols = try await Self.symbols()
        #expect(symbols.count > 100)
        for symbol in symbols {
            let text = symbol.docComment.map { $0.lines.map(\.text).joined(separator: "\n") } ?? ""
            // Double backticks are a link to another symbol, not an example.
            #expect(text.replacing("``", with: "").contains("`"), "\(symbol.pathComponents.joined(separator: "."))")
        }
    }
}
