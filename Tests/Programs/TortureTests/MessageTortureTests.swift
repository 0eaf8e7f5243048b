import Foundation
import InterfaceTestSupport
import JourneyTestSupport
import TestSupport
import Testing

/// Daemons are killed while users send messages in every way. Then the acknowledged, stored and received messages are
/// compared.
@Suite struct MessageTortureTests {
    /// Set by `make torture`. There is one kill for ten messages.
    private static let longKills = number("LETSSWITCH_TORTURE_KILLS").map { $0 / 2 }
    private static let shortKills = 5
    private static let messagesPerKill = 10
    /// `LETSSWITCH_TEST_SEED` repeats a run, as far as that is possible with racing processes.
    private static let seed = number("LETSSWITCH_TEST_SEED") ?? Int.random(in: 0..<1_000_000_000)

    private static func number(_ variable: String) -> Int? {
        ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
    }

    @Test("With random kills, every stored message is received once and in order")
    func survives() async throws {
        if Self.longKills == nil {
            SkippedTests.report("all but \(Self.shortKills) kills while people talk: make torture")
        }
        await TestLimiter.journeys.hold {
            let kills = Self.longKills ?? Self.shortKills
            let comment = Comment(rawValue: "LETSSWITCH_TEST_SEED=\(Self.seed)")
            do {
                let outcome = try await InterfaceValidation.validating {
                    try await MessageTorture(seed: UInt64(Self.seed))
                        .run(messages: kills * Self.messagesPerKill, kills: kills)
                }
                print("Torture: \(comment): \(outcome.summary)")
                #expect(
                    outcome.violations.isEmpty,
                    "\(comment): \(outcome.violations.prefix(20).joined(separator: "\n"))\n\(outcome.output)")
            } catch {
                Issue.record(error, comment)
            }
        }
    }
}

extension MessageTorture.Outcome {
    fileprivate var summary: String {
        """
        \(daemonKills) kills of a daemon, \(databaseKills) of the database; \(acknowledged) messages acknowledged, \(unanswered) without an \
        answer, \(stored) stored; \(connections) connections received them; settled in \(settled / .milliseconds(1)) ms; \
        \(violations.count) violations
        """
    }
}
