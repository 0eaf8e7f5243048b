import Domain
import Features
import Foundation
import Postgres
import Schedule
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Conversations that both users of a match have asked for.
@Suite struct PartnerConversationTests {
    private struct World {
        let database: ScheduleDatabase
        let store: ConversationStore
        /// The tasks of d1 and d2, who are partners, and of d3, who has no partner.
        let tasks: [TaskResponse]

        init(_ database: ScheduleDatabase) async throws {
            self.database = database
            store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota())
            var tasks: [TaskResponse] = []
            for user in 1...3 {
                tasks.append(try #require(try await database.register("d\(user)", "2026-11-22T11:00:00Z").task))
            }
            self.tasks = tasks
        }

        func device(_ user: Int) -> DeviceID { DeviceID(stored: "d\(user)") }

        func name(_ user: Int) async throws {
            _ = try await store.take(UserName("user\(user)"), for: device(user))
        }

        private func request(_ user: Int, _ task: Int?) -> PartnerRequest {
            PartnerRequest(device: device(user), task: tasks[(task ?? user) - 1].id)
        }

        /// Asks for the conversation. Returns the outcome as text.
        func ask(_ user: Int, _ task: Int? = nil) async throws -> String {
            try await describe { try await store.askPartner(request(user, task)) }
        }

        func look(_ user: Int, _ task: Int? = nil) async throws -> String {
            try await describe { try await store.partnerConversation(request(user, task)) }
        }

        private func describe(_ body: () async throws -> PartnerConversation) async throws -> String {
            do {
                switch try await body().progress {
                case .waiting(let own, let partner): return "\(own) \(partner)"
                case .opened(let conversation, let isNew): return "\(isNew ? "made" : "there") \(conversation.name)"
                }
            } catch let error as RequestError {
                return error.code
            }
        }
    }

    private func with(_ body: (World) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z") { try await body(World($0)) }
    }

    @Test("A conversation opens when both partners with names have asked")
    func asking() async throws {
        try await with { world in
            #expect(try await world.ask(1) == "name_required")
            #expect(try await world.look(1) == "false false")
            try await world.name(1)
            #expect(try await world.ask(1) == "true false")
            #expect(try await world.ask(1) == "true false")
            #expect(try await world.look(1) == "true false")
            #expect(try await world.look(2) == "false true")
            #expect(try await world.ask(2) == "name_required")
            try await world.name(2)
            #expect(try await world.ask(2) == "made user1,user2")
            for user in 1...2 {
                #expect(try await world.ask(user) == "there user1,user2")
                #expect(try await world.look(user) == "there user1,user2")
            }
            #expect(try await world.database.count("conversations.conversation") == 1)
        }
    }

    @Test("If both partners ask at once, one of them opens the conversation")
    func race() async throws {
        try await with { world in
            for user in 1...2 { try await world.name(user) }
            let answers = try await withThrowingTaskGroup(of: String.self) { group in
                for user in [1, 2, 1, 2] { group.addTask { try await world.ask(user) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 == "made user1,user2" } == 1)
            #expect(answers.allSatisfy { $0.hasSuffix("user1,user2") || $0 == "true false" })
        }
    }

    @Test("A request without an available partner is refused")
    func refusals() async throws {
        try await with { world in
            for user in 1...3 { try await world.name(user) }
            #expect(try await world.ask(1, 2) == "no_such_task")
            #expect(try await world.ask(3) == "no_partner")
            let blocks = BlockStore(database: world.database.client, storage: StorageQuota())
            let (block, _) = try await blocks.block(
                BlockRequest(device: world.device(2), target: .partner(task: world.tasks[1].id)))
            #expect(try await world.ask(1) == "blocked")
            #expect(try await world.look(2) == "false false")
            try await blocks.unblock(block.id, by: world.device(2))
            #expect(try await world.ask(1) == "true false")
            var hasMore = try await world.database.erasures.erase(world.device(1))
            while hasMore { hasMore = try await world.database.erasures.eraseMore(limit: 10) }
            #expect(try await world.ask(2) == "no_partner")
            #expect(try await world.ask(1) == "no_such_task")
        }
    }

    @Test("A partner who left the conversation returns when both ask")
    func comingBack() async throws {
        try await with { world in
            for user in 1...2 { try await world.name(user) }
            let made = try await world.store.make(
                NewConversationRequest(device: world.device(1), participants: [UserName("user2")], id: nil))
            _ = try await world.store.set(
                ParticipantRequest(device: world.device(2), action: .leave), in: made.conversation.id)
            #expect(try await world.ask(1) == "true false")
            #expect(try await world.ask(2) == "there user1,user2")
            #expect(try await world.store.conversations(of: world.device(2)).conversations.count == 1)
        }
    }
}
