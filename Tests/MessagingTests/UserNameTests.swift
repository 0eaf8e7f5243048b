import Domain
import Foundation
import Postgres
import ScheduleTestSupport
import Scheduling
import TestSupport
import Testing

@testable import Messaging

/// Who is called what: a name for each device, and each name once.
@Suite struct UserNameTests {
    @Test("A name is the first one's who comes, never changes, and is nobody's after its device was erased")
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
            let retired = try await world.database.run("SELECT digest FROM letsswitch.retired_name")
            #expect(try retired.map { try $0.string("digest").count } == [64])
        }
    }

    @Test("Many want one name at once: one gets it")
    func race() async throws {
        try await ConversationWorld.with(1...1) { world in
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for user in 10..<30 { group.addTask { (try? await world.take("ada", user)) == true } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
        }
    }

    @Test("A full server still answers who repeats its name")
    func storedUsers() async throws {
        var storage = StorageLimits()
        storage.users = 2
        try await ConversationWorld.with(1...2, storage: storage) { world async throws in
            #expect(try await !world.take("user1", 1))
            #expect(try await code { _ = try await world.take("user1", 3) } == "name_taken")
            #expect(try await code { _ = try await world.take("user3", 3) } == "storage_full")
            #expect(try await world.database.count("chat_user") == 2)
        }
    }

    @Test("Who was erased has left; its row goes with the last conversation that it was in, and its name stays taken")
    func forgottenUsers() async throws {
        try await ConversationWorld.with(1...3) { world in
            try await world.send(1, "Hello", ConversationWorld.names([2]))
            for user in 2...3 {
                var step = try await world.database.erasures.erase(world.device(user))
                while step.hasMore { step = try await world.database.erasures.eraseMore(limit: 1) }
            }
            let inside = try await world.database.run("SELECT 1 FROM letsswitch.participant WHERE left_number IS NULL")
            #expect(inside.count == 1)
            // user3 was in nothing.
            #expect(try await world.database.count("chat_user") == 2)
            try await world.database.setClock("2027-12-01T10:00:00Z")
            while try await world.database.erasures.purge(retention: 86_400) > 0 {}
            #expect(try await world.database.count("chat_user") == 1)
            #expect(try await code { _ = try await world.take("user2", 4) } == "name_taken")
        }
    }
}
