import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// Like ``TortureTests``, with users who leave each other, move, come late or stay away.
@Suite struct RematchTortureTests {
    private static let shortKills = 2

    @Test("With random kills, each user is in one match and knows its room")
    func survives() async throws {
        if TortureTests.longKills == nil {
            SkippedTests.report("all but \(Self.shortKills) kills of the rematch runs: make interop")
        }
        // A quarter of the other runs' kills.
        let kills = TortureTests.longKills.map { max($0 / 4, 1) } ?? Self.shortKills
        await TortureTests.run("rematches", kills: kills) { seed, kills, comment in
            let outcome = try await RematchRun(seed: seed).run(kills: kills)
            print("Torture: \(comment): \(outcome.summary)")
            #expect(outcome.violations.isEmpty, "\(comment): \(outcome.report)")
            return outcome.kills
        }
    }
}

extension RematchRun.Outcome {
    fileprivate var report: String {
        violations.prefix(20).joined(separator: "\n") + "\n" + output
    }

    fileprivate var summary: String {
        let answers = tally.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return """
            \(kills) kills; \(answers); \(matches) matches, \(reminders) reminders; \(rematches) let down after the start; \
            \(violations.count) violations
            """
    }
}
