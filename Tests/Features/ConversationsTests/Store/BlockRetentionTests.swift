import Domain
import Features
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Blocks whose owner is no longer active expire, and no others.
@Suite struct BlockRetentionTests {
    /// Returns the devices that own the stored blocks.
    private func owners(_ database: ScheduleDatabase) async throws -> Set<String> {
        Set(try await database.run("SELECT device_id FROM core.block").map { try $0.string("device_id") })
    }

    private func deleteUnused(_ database: ScheduleDatabase) async throws {
        while try await database.storage.deleteUnused(retention: 34_560_000, limit: 2) > 0 {}
    }

    @Test(
        "A block expires 400 days after its owner's last activity"
    )
    func retention() async throws {
        try await ConversationWorld.with(1...7) { world in
            let database = world.database
            let store = BlockStore(database: database.client, storage: StorageQuota(StorageLimits()))
            for user in 1...6 {
                _ = try await store.block(
                    BlockRequest(device: world.device(user), target: .name(try UserName("user7"))))
            }
            try await deleteUnused(database)
            #expect(try await owners(database).count == 6)

            // 399 days later.
            try await database.setClock("2027-12-26T10:00:00Z")
            try await deleteUnused(database)
            #expect(try await owners(database).count == 6)
            let daemons = (UUID(), UUID())
            try await database.run("SELECT conversations.set_connected_users('\(daemons.0)', '{user2}', '{}')")
            try await database.run("SELECT conversations.set_connected_users('\(daemons.0)', '{}', '{user2}')")
            try await database.run("SELECT conversations.set_connected_users('\(daemons.1)', '{user3}', '{}')")
            try await world.send(4, "Hello", ConversationWorld.names([5]))

            // 401 days after the beginning.
            try await database.setClock("2027-12-28T10:00:00Z")
            _ = try await database.register("d6", "2027-12-28T11:00:00Z", "Maths")
            try await deleteUnused(database)
            #expect(try await owners(database) == ["d2", "d3", "d4", "d6"])
            #expect(try await code { _ = try await world.make(2, [7]) } == "blocked")

            // Two years later only user3 is still a listener. All messages and tasks were deleted.
            try await database.setClock("2030-01-01T10:00:00Z")
            try await database.run("DELETE FROM conversations.message")
            try await database.run("DELETE FROM schedule.task")
            try await deleteUnused(database)
            #expect(try await owners(database) == ["d3"])
        }
    }
}
