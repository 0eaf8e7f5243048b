import Domain
import Foundation
import JourneyTestSupport
import LetsSwitch
import Settings
import TestSupport
import Testing

@testable import Notifications

/// Daemons with different providers on one database.
@Suite struct SharedProviderTests {
    @Test("The webhook gets every event once, whichever daemon claims it")
    func oneHasTheWebhook() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                var providers = ProviderSettings()
                providers.webhook.url = recorder.url("/hook")
                providers.webhook.secrets = [try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))]
                let (one, endpoint) = try await journey.daemonAndEndpoint { [providers] in $0.providers = providers }
                let other = try await journey.daemon()
                let start = try await journey.instant(in: 3600)
                for number in 0..<10 { try await [endpoint, other][number % 2].register("d\(number)", start) }
                // While the daemon with the webhook is stopped, the other one claims.
                await one.stop()
                try await journey.advance(to: start, -59)
                try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder) = 10")
                _ = try await journey.daemon { [providers] in $0.providers = providers }
                // Both daemons claim.
                let next = Instant(seconds: start.seconds + 600)
                for number in 0..<10 { try await other.register("d\(number)", next) }
                try await journey.wait(
                    until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 10")
                try await journey.advance(to: next, -59)
                try await journey.wait(
                    until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 20")
                try await journey.wait(
                    until: """
                        NOT EXISTS (SELECT FROM core.delivery WHERE next_try_at <= core.clock()
                            + interval '1 minute')
                        """)
                func ids(_ type: String) throws -> Set<String> {
                    Set(
                        try recorder.requests.all.filter { try $0.json()["type"].string == type }
                            .compactMap { $0.headers["webhook-id"] })
                }
                #expect(try ids("reminder").count == 20)
                #expect(try ids("task.registered").count == 20)
            }
        }
    }
}
