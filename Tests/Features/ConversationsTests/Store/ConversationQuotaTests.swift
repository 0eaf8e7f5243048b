import Domain
import FoundationEssentials
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// A user's quota counts the conversations that the user made or answered, and ignores those that others made.
@Suite struct ConversationQuotaTests {
    private func with(
        _ users: ClosedRange<Int>, perDevice: Int, _ body: (ConversationWorld) async throws -> Void
    ) async throws {
        var settings = ConversationSettings()
        settings.perDevice = perDevice
        try await ConversationWorld.with(users, settings: settings) { try await body($0) }
    }

    @Test("Only conversations that a user created or answered use up its quota")
    func answered() async throws {
        try await with(1...6, perDevice: 2) { world in
            let pair = try await world.make(2, [1]).0.id
            let group = try await world.make(3, [1, 4]).0.id
            let other = try await world.make(4, [1, 5]).0.id
            _ = try await world.make(1, [5])
            try await world.send(1, "answer", .conversation(group))
            try await world.send(1, "again", .conversation(group))
            for conversation in [pair, other] {
                #expect(
                    try await code { try await world.send(1, "x", .conversation(conversation)) }
                        == "too_many_conversations")
            }
            #expect(
                try await code { try await world.send(1, "x", .conversations([group, other])) }
                    == "too_many_conversations")
            #expect(try await code { _ = try await world.make(1, [6]) } == "too_many_conversations")
            #expect(
                try await code { try await world.send(1, "x", ConversationWorld.names([6])) }
                    == "too_many_conversations")
            _ = try await world.set(1, .leave, in: group)
            try await world.send(1, "answer", .conversation(pair))
            #expect(try await code { _ = try await world.make(1, [6]) } == "too_many_conversations")
            #expect(try await world.list(1).count == 4)
        }
    }

    @Test("A conversation of two that a message restores counts for the author")
    func returned() async throws {
        try await with(1...4, perDevice: 1) { world in
            let pair = try await world.make(1, [2]).0.id
            try await world.send(2, "answer", .conversation(pair))
            for user in 1...2 { _ = try await world.set(user, .leave, in: pair) }
            _ = try await world.make(1, [3])
            try await world.send(2, "Are you there?", .conversation(pair))
            #expect(try await world.list(1).contains(pair))
            #expect(
                try await code { try await world.send(1, "Yes", .conversation(pair)) } == "too_many_conversations")
            #expect(try await code { _ = try await world.make(2, [3]) } == "too_many_conversations")
            _ = try await world.set(1, .leave, in: pair)
            #expect(try await code { _ = try await world.make(1, [2]) } == "too_many_conversations")
        }
    }

    @Test("A user can create at most 50 unanswered groups in 30 days")
    func unanswered() async throws {
        try await with(1...4, perDevice: 1_000) { world in
            var groups: [UUID] = []
            for _ in 1...ConversationSettings.unanswered { groups.append(try await world.make(1, [2, 3]).0.id) }
            try await world.send(1, "Hello?", .conversation(groups[0]))
            _ = try await world.set(1, .leave, in: groups[1])
            do {
                _ = try await world.make(1, [2, 4])
                Issue.record("a group more")
            } catch let error as RequestError {
                #expect(error.code == "too_many_conversations" && error.reason.contains("50 groups"))
            }
            #expect(
                try await code { try await world.send(1, "x", ConversationWorld.names([2, 4])) }
                    == "too_many_conversations")
            // Pairs, and other people's groups, aren't counted.
            _ = try await world.make(1, [4])
            _ = try await world.make(2, [1, 3])
            try await world.send(3, "Here", .conversation(groups[0]))
            _ = try await world.make(1, [2, 4])
            #expect(try await code { _ = try await world.make(1, [2, 4]) } == "too_many_conversations")
            try await world.database.setClock("2026-12-22T10:00:01Z")
            _ = try await world.make(1, [2, 4])
        }
    }

    @Test("At the limit of unanswered conversations, a user leaves the oldest of the most frequent inviter")
    func surplus() async throws {
        try await with(1...6, perDevice: 3) { world in
            var minute = 0
            func make(_ user: Int, _ others: [Int]) async throws -> UUID {
                minute += 1
                try await world.database.setClock("2026-11-22 10:0\(minute):00Z")
                return try await world.make(user, others).0.id
            }
            let friend = try await make(3, [1, 4])
            let flood = [try await make(2, [1, 4]), try await make(2, [1, 4])]
            let own = try await make(1, [5])
            let latest = try await make(5, [1, 6])
            #expect(
                try await world.store.positions(of: world.device(1)).offsets.filter(\.hasLeft).map(\.conversation) == [
                    flood[0]
                ])
            // The conversations that the user left come behind those that it is in.
            #expect(try await world.store.positions(of: world.device(1)).offsets.last?.conversation == flood[0])
            #expect(try await Set(world.list(1)) == [friend, flood[0], flood[1], own, latest])
            #expect(try await world.page(2, flood[0]).routingKey == "user2.user4")
            #expect(try await world.page(2, flood[1]).routingKey == "user1.user2.user4")
        }
    }

    @Test("Simultaneous requests don't exceed the quota of conversations")
    func concurrent() async throws {
        try await with(1...10, perDevice: 4) { world in
            var invited: [UUID] = []
            for user in 2...5 { invited.append(try await world.make(user, [1, 10]).0.id) }
            let refusals = try await withThrowingTaskGroup(of: String?.self) { group in
                for conversation in invited {
                    group.addTask { try await code { try await world.send(1, "x", .conversation(conversation)) } }
                }
                for other in 2...9 { group.addTask { try await code { _ = try await world.make(1, [other]) } } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.count { $0 == nil } == 4)
            #expect(refusals.count { $0 == "too_many_conversations" } == 8)
        }
    }
}
