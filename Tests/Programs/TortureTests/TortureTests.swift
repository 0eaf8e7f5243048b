import DoorTestSupport
import Foundation
import JourneyTestSupport
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
        "With random kills no acknowledged change is lost, nobody is matched twice, and every reminder arrives",
        arguments: TortureWorld.Kind.allCases)
    func survives(_ kind: TortureWorld.Kind) async throws {
        if Self.longKills == nil { LeftOut.say("all but \(Self.shortKills) kills of the torture run: make interop") }
        let kills = kind == .shared ? Self.kills - 2 * (Self.kills / 3) : Self.kills / 3
        await Self.run("\(kind)", kills: kills) { seed, kills, comment in
            let outcome = try await TortureRun(kind, seed: seed).run(kills: kills)
            print("Torture: \(comment): \(outcome.summary)")
            #expect(outcome.violations.isEmpty, "\(comment): \(outcome.complaint)")
            return outcome.daemonKills + outcome.databaseKills
        }
    }

    /// Runs one after the other, each with a seed of its own, until so many were killed.
    ///
    /// - Parameter run: Kills as many as it is told, or fewer, and says how many.
    static func run(
        _ name: String, kills: Int, _ run: (_ seed: UInt64, _ kills: Int, _ comment: Comment) async throws -> Int
    ) async {
        await Places.journeys.hold {
            var (left, seed) = (kills, UInt64(Self.seed))
            while left > 0 {
                let comment = Comment(rawValue: "\(name), LETSSWITCH_TEST_SEED=\(seed)")
                do {
                    let killed = try await ProductDoors.judged {
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
