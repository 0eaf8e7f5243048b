import FoundationEssentials
import Postgres
import Schedule
import ScheduleTestSupport
import Testing

@testable import Notifications
@testable import Reminders

extension ScheduleDatabase {
    var deliveries: DeliveryStore { DeliveryStore(database: client, others: client) }

    /// Records that a daemon serves these providers from now on.
    func serve(_ providers: [ProviderName]) async throws {
        for provider in providers { _ = try await deliveries.start(provider) }
    }

    /// Makes a match of two devices at nine, and claims its reminders, which are due at 8:59.
    func claimMatch(for providers: [ProviderName]) async throws -> ClaimedBatch {
        try await serve(providers)
        for device in ["ada", "bob"] {
            _ = try await schedule.register(
                try Self.request(device, "2026-11-22T09:00:00Z", "\(device)'s title", zone: "UTC"))
        }
        try await setClock("2026-11-22T08:59:00Z")
        return try #require(try await reminders.claimDue(limit: 100))
    }

    func lease(
        _ provider: ProviderName, limit: Int = 100, others: Int? = nil
    ) async throws -> DeliveryStore.Leased {
        var leased = try await deliveries.lease(provider, .reminders, limit: limit, for: .seconds(10))
        let others = try await deliveries.lease(provider, .others, limit: others ?? limit, for: .seconds(10))
        leased.deliveries = (leased.deliveries + others.deliveries).sorted { $0.id < $1.id }
        leased.expired += others.expired
        leased.orphans = (leased.orphans + others.orphans).sorted()
        return leased
    }

    /// Writes events with these titles for the webhook, as if a daemon served it.
    func writeEvents(_ titles: some Sequence<Int>) async throws {
        try await run("SELECT notifications.touch_provider('webhook', core.clock())")
        let titles = titles.map { "'\($0)'" }.joined(separator: ", ")
        try await run(
            """
            SELECT core.write_event('task.registered', p_title => title)
            FROM unnest(ARRAY[\(titles)]) WITH ORDINALITY AS list (title, place) ORDER BY place
            """)
    }
}

extension String {
    /// Whether a payload contains Ada's device or one of her titles. Just the letters `ada` could occur in any UUID or
    /// tag.
    var namesAda: Bool { contains("\"ada\"") || contains("ada's") }
}
