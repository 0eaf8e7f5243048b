import FoundationEssentials
import Postgres
import Testing

@testable import LetsSwitch

extension ScheduleDatabase {
    var deliveries: DeliveryStore { DeliveryStore(database: client) }
    var addresses: AddressStore { AddressStore(database: client) }

    /// The stores of a daemon that has these channels.
    func stores(_ channels: [ChannelName]) -> (schedule: ScheduleStore, reminders: ReminderStore) {
        let active = ActiveChannels(channels)
        return (
            ScheduleStore(database: client, settings: ScheduleSettings(), channels: active),
            ReminderStore(database: client, channels: active)
        )
    }

    /// Two devices, a match at nine and its reminders, which are due at 8:59.
    func claimMatch(for channels: [ChannelName]) async throws -> Firing {
        let stores = stores(channels)
        for device in ["ada", "bob"] {
            _ = try await stores.schedule.register(
                try Self.request(device, "2026-11-22T09:00:00Z", "\(device)'s title", zone: "UTC"))
        }
        try await setClock("2026-11-22T08:59:00Z")
        return try #require(try await stores.reminders.claimDue(limit: 100))
    }

    func lease(_ channel: ChannelName, limit: Int = 100) async throws -> DeliveryStore.Leased {
        try await deliveries.lease(channel, limit: limit, for: .seconds(10))
    }
}
