import DoorTestSupport
import Foundation
import TestSupport
import Testing

/// The checker: daemons and databases are killed at random moments while devices register, cancel, pair and are reminded;
/// then what the clients were told is held against what is there and what came.
@Suite struct TortureTests {
    /// `make interop` sets it.
    static let longKills = number("LETSSWITCH_TORTURE_KILLS")
    /// Few enough to take seconds.
    private static let shortKills = 12
    private static let kills = longKills ?? shortKills
    /// Another in each run: `LETSSWITCH_TEST_SEED` repeats one, as far as a seed goes where processes race.
    static let seed = number("LETSSWITCH_TEST_SEED") ?? Int.random(in: 0..<1_000_000_000)
    /// So many kills, then everything is checked, and the next run begins with an empty database.
    private static let killsPerRun = 10

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }

    @Test(
        "Whatever is killed and when: nothing acknowledged is lost, nobody is paired twice, every reminder comes",
        arguments: TortureWorld.Kind.allCases)
    func survives(_ kind: TortureWorld.Kind) async throws {
        if Self.longKills == nil { LeftOut.say("all but \(Self.shortKills) kills of the torture run: make interop") }
        await Places.journeys.hold {
            var left = kind == .shared ? Self.kills - 2 * (Self.kills / 3) : Self.kills / 3
            var run = 0
            while left > 0 {
                let seed = UInt64(Self.seed + run)
                let comment = Comment(rawValue: "\(kind), LETSSWITCH_TEST_SEED=\(seed)")
                do {
                    let outcome = try await ProductDoors.judged {
                        try await TortureRun(kind, seed: seed).run(kills: min(left, Self.killsPerRun))
                    }
                    print("Torture: \(comment): \(outcome.summary)")
                    #expect(outcome.violations.isEmpty, "\(comment): \(outcome.complaint)")
                    left -= outcome.daemonKills + outcome.databaseKills
                } catch {
                    Issue.record(error, comment)
                    break
                }
                run += 1
            }
        }
    }
}

extension TortureRun.Outcome {
    fileprivate var complaint: String {
        violations.prefix(20).joined(separator: "\n") + "\n" + output
    }

    fileprivate var summary: String {
        """
        \(daemonKills) kills of a daemon, \(databaseKills) of the database; \(tally.registered) registrations \
        acknowledged (\(tally.paired) paired), \(tally.cancelled) cancels, \(tally.refused) refusals, \
        \(tally.unanswered) without an answer; \(tally.streams) streams; \(matches) matches, \(reminders) reminders, \
        \(repeats) repeated; \(ales) ales, \(lostAles) of them lost; settled in \(settled / .milliseconds(1)) ms; \(violations.count) violations
        """
    }
}
