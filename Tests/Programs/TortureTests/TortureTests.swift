import Foundation
import InterfaceTestSupport
import JourneyTestSupport
import TestSupport
import Testing

/// Daemons and databases are killed at random moments while devices register, cancel, are matched and are reminded.
/// Then the answers to the clients are compared with the stored data and the received reminders.
@Suite struct TortureTests {
    /// Set by `make interop`.
    static let longKills = number("LETSSWITCH_TORTURE_KILLS")
    /// Few enough to take only seconds.
    private static let shortKills = 12
    private static let kills = longKills ?? shortKills
    /// Differs in each run. `LETSSWITCH_TEST_SEED` repeats a run, as far as that is possible with racing processes.
    static let seed = number("LETSSWITCH_TEST_SEED") ?? Int.random(in: 0..<1_000_000_000)
    /// After this many kills everything is checked. The next run begins with an empty database.
    private static let killsPerRun = 10

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }

    @Test(
        "With random kills, no acknowledged change is lost",
        arguments: TortureWorld.Kind.allCases)
    func survives(_ kind: TortureWorld.Kind) async throws {
        if Self.longKills == nil {
            SkippedTests.report("all but \(Self.shortKills) kills of the torture run: make interop")
        }
        let kills = kind == .shared ? Self.kills - 2 * (Self.kills / 3) : Self.kills / 3
        await Self.run("\(kind)", kills: kills) { seed, kills, comment in
            let outcome = try await TortureRun(kind, seed: seed).run(kills: kills)
            print("Torture: \(comment): \(outcome.summary)")
            #expect(outcome.violations.isEmpty, "\(comment): \(outcome.report)")
            return outcome.daemonKills + outcome.databaseKills
        }
    }

    /// Does one run after the other, each with its own seed, until the number of kills is reached.
    ///
    /// - Parameter run: Kills at most the given number of times. Returns the number of its kills.
    static func run(
        _ name: String, kills: Int, _ run: (_ seed: UInt64, _ kills: Int, _ comment: Comment) async throws -> Int
    ) async {
        await TestLimiter.journeys.hold {
            var (left, seed) = (kills, UInt64(Self.seed))
            while left > 0 {
                let comment = Comment(rawValue: "\(name), LETSSWITCH_TEST_SEED=\(seed)")
                do {
                    let killed = try await InterfaceValidation.validating {
                        try await run(seed, min(left, Self.killsPerRun), comment)
                    }
                    guard killed > 0 else { break }
                    left -= killed
                } catch {
                    Issue.record(error, comment)
                    break
                }
                seed += 1
            }
        }
    }
}

extension TortureRun.Outcome {
    fileprivate var report: String {
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
