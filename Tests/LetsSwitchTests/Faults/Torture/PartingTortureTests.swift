import DoorTestSupport
import Foundation
import TestSupport
import Testing

/// The checker of partings: as ``TortureTests``, with people who leave one another, move, come late, or don't come.
@Suite struct PartingTortureTests {
    private static let shortKills = 2
    /// So many kills, then the next run begins with an empty database.
    private static let killsPerRun = 10

    @Test("Whatever is killed and when: nobody is in two pairs, and everybody knows with whom, and where")
    func survives() async throws {
        if TortureTests.longKills == nil {
            LeftOut.say("all but \(Self.shortKills) kills of the partings: make interop")
        }
        await Places.journeys.hold {
            // Of as many as the others have, a quarter.
            var left = TortureTests.longKills.map { max($0 / 4, 1) } ?? Self.shortKills
            var run = 0
            while left > 0 {
                let seed = UInt64(TortureTests.seed + run)
                let comment = Comment(rawValue: "partings, LETSSWITCH_TEST_SEED=\(seed)")
                do {
                    let outcome = try await ProductDoors.judged {
                        try await PartingRun(seed: seed).run(kills: min(left, Self.killsPerRun))
                    }
                    print("Torture: \(comment): \(outcome.summary)")
                    #expect(outcome.violations.isEmpty, "\(comment): \(outcome.complaint)")
                    guard outcome.kills > 0 else { break }
                    left -= outcome.kills
                } catch {
                    Issue.record(error, comment)
                    break
                }
                run += 1
            }
        }
    }
}

extension PartingRun.Outcome {
    fileprivate var complaint: String {
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
