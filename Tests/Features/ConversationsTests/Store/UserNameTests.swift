import Domain
import Features
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Users' names: one per device, and each name once.
@Suite struct UserNameTests {
    @Test("A name belongs to the first device, and never changes")
    func names() async throws {
        try await ConversationWorld.with(1...2) { world in
            #expect(try await !world.take("user1", 1))
            #expect(try await code { _ = try await world.take("other", 1) } == "has_name")
            #expect(try await code { _ = try await world.take("user1", 3) } == "name_taken")
            #expect(try await world.take("User1", 3))
            #expect(try await world.take("user10", 4))
            #expect(try await world.store.users(prefix: "") == ["User1", "user1", "user10", "user2"])
            #expect(try await world.store.users(prefix: "user1") == ["user1", "user10"])
            #expect(try await world.store.users(prefix: "user3").isEmpty)
            _ = try await world.database.erasures.erase(world.device(1))
            #expect(try await world.store.users(prefix: "user1") == ["user10"])
            #expect(try await code { _ = try await world.take("user1", 5) } == "name_taken")
            #expect(try await code { _ = try await world.take("user1", 1) } == "name_taken")
            #expect(try await world.take("new", 1))
            let retired = try await world.database.run("SELECT digest FROM conversations.retired_name")
            #expect(try retired.map { try $0.string("digest").count } == [64])
        }
    }

    @Test("One of several devices that request a name at once gets it")
    func race() async throws {
        try await ConversationWorld.with(1...1) { world in
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for user in 10..<30 { group.addTask { (try? await world.take("ada", user)) == true } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
        }
    }

    @Test("A full server still answers a repeated name")
    func storedUsers() async throws {
        var storage = StorageLimits()
        storage.users = 2
        try await ConversationWorld.with(1...2, storage: storage) { world async throws in
            #expect(try await !world.take("user1", 1))
            #expect(try await code { _ = try await world.take("user1", 3) } == "name_taken")
            #expect(try await code { _ = try await world.take("user3", 3) } == "storage_full")
            #expect(try await world.database.count("conversations.chat_user") == 2)
        }
    }

    @Test("The name of an erased user stays taken")
    func forgottenUsers() async throws {
        try await ConversationWorld.with(1...3) { world in
            try await world.send(1, "Hello", ConversationWorld.names([2]))
            for user in 2...3 {
                var hasMore = try await world.database.erasures.erase(world.device(user))
                while hasMore { hasMore = try await world.database.erasures.eraseMore(limit: 1) }
            }
            let inside = try await world.database.run(
                "SELECT 1 FROM conversations.participant WHERE left_number IS NULL")
            #expect(inside.count == 1)
            // user3 had no conversation, so the erasure deleted its row.
            #expect(try await world.database.count("conversations.chat_user") == 2)
            try await world.database.setClock("2027-12-01T10:00:00Z")
            while try await world.database.deleteOld(retention: 86_400) > 0 {}
            #expect(try await world.database.count("conversations.chat_user") == 1)
            #expect(try await code { _ = try await world.take("user2", 4) } == "name_taken")
        }
    }

    // MARK: Forgetting

    /// Deletes names that weren't used for 400 days.
    private func deleteUnused(_ database: ScheduleDatabase) async throws {
        while try await database.storage.deleteUnused(retention: 34_560_000, limit: 2) > 0 {}
    }

    @Test("A name that is unused for 400 days becomes free, unless its device was erased")
    func unused() async throws {
        try await ConversationWorld.with(1...4) { world in
            var hasMore = try await world.database.erasures.erase(world.device(4))
            while hasMore { hasMore = try await world.database.erasures.eraseMore(limit: 10) }
            // 399 days later.
            try await world.database.setClock("2027-12-26T10:00:00Z")
            #expect(try await !world.take("user1", 1))
            try await deleteUnused(world.database)
            #expect(try await world.store.users(prefix: "") == ["user1", "user2", "user3"])
            // 401 days after the beginning. user1 has sent its name again meanwhile.
            try await world.database.setClock("2027-12-28T10:00:00Z")
            try await deleteUnused(world.database)
            #expect(try await world.store.users(prefix: "") == ["user1"])
            #expect(try await world.database.count("conversations.retired_name") == 1)
            #expect(
                try await code { try await world.send(2, "Hello", ConversationWorld.names([1])) } == "name_required")
            #expect(try await world.take("user2", 9))
            #expect(try await world.take("new", 2))
            #expect(try await code { _ = try await world.take("user4", 10) } == "name_taken")
            try await world.database.setClock("2029-02-02T10:00:00Z")
            try await deleteUnused(world.database)
            #expect(try await world.database.count("conversations.chat_user") == 0)
            #expect(try await code { _ = try await world.take("user4", 10) } == "name_taken")
        }
    }

    @Test(
        "A name stays while its device uses it"
    )
    func used() async throws {
        try await ConversationWorld.with(1...9) { world in
            let database = world.database
            let left = try await world.make(1, [2, 3]).0.id
            try await world.send(2, "Hello", .conversations([left]))
            try await database.run(
                """
                DELETE FROM conversations.participant USING conversations.chat_user AS own
                WHERE own.id = user_id AND own.name IN ('user2', 'user3')
                """)
            let blocks = BlockStore(database: database.client, storage: StorageQuota(StorageLimits()))
            _ = try await blocks.block(
                BlockRequest(device: world.device(6), target: .name(try UserName("user5"))))
            try await database.setClock("2027-12-28T10:00:00Z")
            // user4 listens all the time, which is written only once.
            try await database.run("SELECT conversations.set_connected_users('\(UUID())', '{user4}', '{}')")
            try await database.run("UPDATE conversations.chat_user SET used_at = named_at")
            // The user who is still active keeps the block, so the other's name is kept too.
            try await database.addresses.registerToken("aa", of: "d6")
            _ = try await database.register("d7", "2027-12-28T11:00:00Z", "Maths")
            // user8 has listened before, and doesn't any more.
            try await database.run("SELECT conversations.set_connected_users('\(UUID())', '{user8}', '{}')")
            try await database.run(
                """
                DELETE FROM conversations.connected_user USING conversations.chat_user AS own
                WHERE own.id = user_id AND own.name = 'user8'
                """)
            try await deleteUnused(database)
            // user3 is in no conversation and has no messages. user9 has done nothing since it took its name.
            let kept = ["user1", "user2", "user4", "user5", "user6", "user7", "user8"]
            #expect(try await world.store.users(prefix: "") == kept)

            // Nothing uses the names any more. The last check was more than 400 days ago.
            for table in [
                "conversations.participant", "conversations.message", "conversations.connected_user", "schedule.task",
                "core.address",
            ] {
                try await database.run("DELETE FROM \(table)")
            }
            try await database.setClock("2029-02-02T10:00:00Z")
            try await deleteUnused(database)
            #expect(try await world.store.users(prefix: "").isEmpty)
            #expect(try await database.count("core.block") == 0)
        }
    }

    @Test("A conversation created while names are being removed has a participant or fails")
    func forgottenMeanwhile() async throws {
        try await ConversationWorld.with(1...40) { world in
            try await world.database.setClock("2027-12-28T10:00:00Z")
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await deleteUnused(world.database)
                    return false
                }
                for user in stride(from: 39, to: 0, by: -2) {
                    group.addTask {
                        let refusal = try await code { _ = try await world.make(user, [user + 1]) }
                        #expect([nil, "name_required", "no_such_user"].contains(refusal))
                        return refusal == nil
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            let there = try await world.database.run(
                """
                SELECT own.name FROM conversations.participant
                JOIN conversations.chat_user AS own ON own.id = participant.user_id
                """)
            #expect(there.count == 2 * made)
            // In the end every user without a conversation is deleted.
            try await deleteUnused(world.database)
            #expect(try await world.database.count("conversations.chat_user") == 2 * made)
        }
    }
}
