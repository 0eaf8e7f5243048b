import Foundation
import Testing

/// The browser that the page tests share.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct ChromiumTests {
    @Test("The tests end the browser process itself, not a script that would leave it running")
    func process() async throws {
        let command = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(try await Chromium.shared.pid())/cmdline"))
        let words = command.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        #expect(words.first?.contains("chrom") == true, "\(words)")
    }
}
