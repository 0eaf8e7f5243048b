import Foundation
import TestSupport
import Testing

/// The report of a wait for a page that ends in vain.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageEvidenceTests {
    @Test(
        "A wait in vain reports the state of the page, the clock and the log"
    )
    func report() async throws {
        let failure = await #expect(throws: ClientFailure.self) {
            try await PageWorld.run { world in
                let page = try await world.visit(.init(device: "ada"))
                try await page.evaluate("console.log('a word', 7); fetch('/nothing').then(() => {})")
                try await page.events.next("the answer") { $0.parameters["response"]["status"] == 404 }
                try await page.wait(until: "document.title === 'never'", within: .milliseconds(200))
            }
        }
        let report = "\(try #require(failure))"
        #expect(report.contains("waited 0.2 seconds for document.title === 'never' in vain"))
        #expect(report.contains("log: a word 7"))
        #expect(report.contains(/\n +GET http:\S+\/nothing: 404\n/))
        #expect(report.contains("The page shows http://"))
        #expect(report.contains(/The test's clock: 2\d{3}-\d\d-\d\d/))
        #expect(report.contains(#""msg":"listening""#))
        let path = try #require(report.firstMatch(of: /screenshot: (\S+\.png)/)).1
        #expect(path.contains("/.build/failures/PageTests.PageEvidenceTests-report-"))
        let image = try Data(contentsOf: URL(fileURLWithPath: String(path)))
        #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        try FileManager.default.removeItem(atPath: String(path))
    }
}
