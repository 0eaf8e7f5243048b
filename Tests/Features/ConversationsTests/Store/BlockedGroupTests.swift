import Domain
import FoundationEssentials
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Groups with two users of whom one has blocked the other.
@Suite struct BlockedGroupTests {
    private func block(_ user: Int, _ other: Int, in world: ConversationWorld) async throws -> Bool {
        try await BlockStore(database: world.database.client).block(
            BlockRequest(device: world.device(user), target: .name(UserName("user\(other)")))
        ).isNew
    }

    @Test("No group contains two users of whom one has blocked the other")
    func third() async throws {
        try await ConversationWorld.with { world in
            let old = try await world.make(3, [1, 2]).0.id
            #expect(try await block(1, 2, in: world))
            #expect(try await code { _ = try await world.make(3, [1, 2]) } == "blocked")
            #expect(try await code { _ = try await world.make(3, [2, 1, 4, 5]) } == "blocked")
            #expect(
                try await code { try await world.send(4, "x", ConversationWorld.names([1, 2])) } == "blocked")
            let message = try IncomingMessage(
                id: UUID(), content: "x", author: UserName("user4"), conversation: nil,
                participants: [UserName("user4"), UserName("user1"), UserName("user2")])
            #expect(try await code { _ = try await world.store.receive(message) } == "blocked")
            let named = try IncomingMessage(
                id: UUID(), content: "x", author: UserName("user4"), conversation: UUID(),
                participants: [UserName("user4"), UserName("user1"), UserName("user2")])
            #expect(try await code { _ = try await world.store.receive(named) } == "blocked")
            // A group that existed before the block remains until one of the two users leaves it.
            try await world.send(3, "still here", ConversationWorld.names([1, 2]))
            #expect(try await world.page(1, old).lastOffset == 1)
            _ = try await world.set(1, .leave, in: old)
            #expect(try await code { try await world.send(3, "x", ConversationWorld.names([1, 2])) } == "blocked")
            #expect(try await world.database.count("conversations.conversation") == 1)
            _ = try await world.make(3, [1, 4])
        }
    }

    @Test("A block makes the user leave the other's groups in which it has sent nothing")
    func leaving() async throws {
        try await ConversationWorld.with { world in
            var unanswered: [UUID] = []
            for _ in 1...20 { unanswered.append(try await world.make(2, [1, 3]).0.id) }
            try await world.send(2, "hear me", .conversation(unanswered[0]))
            let answered = try await world.make(2, [1, 3]).0.id
            try await world.send(1, "answer", .conversation(answered))
            let others = [try await world.make(3, [1, 2]).0.id, try await world.make(1, [2, 3]).0.id]
            #expect(try await block(1, 2, in: world))
            func inside(_ user: Int) async throws -> Set<UUID> {
                Set(
                    try await world.store.positions(of: world.device(user)).offsets.filter { !$0.hasLeft }
                        .map(\.conversation))
            }
            #expect(try await inside(1) == Set([answered] + others))
            #expect(try await inside(3) == Set(unanswered + [answered] + others))
            #expect(try await world.page(1, unanswered[0]).messages.map(\.content) == ["hear me"])
            #expect(try await world.page(3, unanswered[0]).routingKey == "user2.user3")
            // The group was made before the block. Only now its rows say that the blocked user made it.
            try await world.database.run(
                """
                UPDATE conversations.participant AS own SET invited_by = (SELECT id FROM conversations.user_of('d2'))
                FROM conversations.user_of('d1') AS me WHERE own.user_id = me.id AND own.conversation_id = '\(answered)'
                """)
            #expect(try await !block(1, 2, in: world))
            #expect(try await inside(1) == Set(others))
        }
    }

    @Test("A simultaneous block and group never leave both users in the group")
    func concurrent() async throws {
        try await ConversationWorld.with(1...32) { world in
            for first in stride(from: 1, to: 31, by: 3) {
                let (blocker, blocked, third) = (first, first + 1, first + 2)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await block(blocker, blocked, in: world) }
                    for _ in 1...2 {
                        group.addTask { _ = try await code { _ = try await world.make(blocked, [blocker, third]) } }
                    }
                    try await group.waitForAll()
                }
                let positions = try await world.store.positions(of: world.device(blocker)).offsets
                #expect(!positions.contains { !$0.hasLeft }, "\(positions)")
            }
        }
    }

    @Test("Simultaneous blocks don't exceed the limit of a device")
    func once() async throws {
        try await ConversationWorld.with { world in
            let new = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 1...8 { group.addTask { try await block(1, 2, in: world) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(new.count { $0 } == 1)
            try await world.database.run(
                """
                INSERT INTO core.block (id, device_id, blocked_id, name, blocked_at)
                SELECT gen_random_uuid(), 'd1', 'x' || n, 'x' || n, core.clock() FROM generate_series(1, 998) AS n
                """)
            let refusals = try await withThrowingTaskGroup(of: String?.self) { group in
                for other in 3...5 { group.addTask { try await code { _ = try await block(1, other, in: world) } } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.count { $0 == nil } == 1 && refusals.count { $0 == "too_many_blocks" } == 2)
        }
    }
}
