import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// The report printed when a journey test's wait times out.
@Suite struct JourneyEvidenceTests {
    @Test(
        "A wait in vain reports the clock, the tables and the logs")
    func report() async throws {
        let failure = await #expect(throws: ClientFailure.self) {
            try await Journey.run { journey in
                _ = try await journey.daemon()
                let (process, _) = try await journey.process()
                // The process ends with its last reference.
                defer { withExtendedLifetime(process) {} }
                try await journey.advance(to: Instant(seconds: 2_000_000_000))
                try await journey.wait(
                    until: "NOT EXISTS (SELECT FROM letsswitch.test_clock)", within: .milliseconds(200))
            }
        }
        let report = "\(try #require(failure))"
        #expect(report.contains("letsswitch.test_clock: [{"))
        #expect(report.contains("The test's clock: 2033-05-18 03:"))
        #expect(report.contains("The log of daemon 1 of the journey"))
        #expect(report.contains("The log of process"))
        #expect(report.components(separatedBy: #""msg":"listening""#).count == 3)
    }
}
