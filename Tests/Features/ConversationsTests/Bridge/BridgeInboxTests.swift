import AMQP
import Domain
import Foundation
import Observability
import Postgres
import Testing

@testable import Conversations

/// The handling of messages received from a broker, without a broker.
@Suite struct BridgeInboxTests {
    private struct Unknown: Error {}

    private func message() throws -> IncomingMessage {
        try IncomingMessage(
            id: UUID(), content: "x", author: UserName("user1"), conversation: UUID(),
            participants: [UserName("user1"), UserName("user2")])
    }

    private func settle(attempt: Int = 1, _ receive: @escaping BridgeInbox.Receive) async throws -> Settlement {
        let inbox = BridgeInbox(metrics: BridgeMetrics(), log: Log(level: .error, format: nil), receive: receive)
        return await inbox.settle(.store(try message()), attempt: attempt)
    }

    @Test("Each handled message is acknowledged, but only new ones are stored")
    func settled() async throws {
        #expect(try await settle { _ in true } == .acknowledged(.stored))
        #expect(try await settle { _ in false } == .acknowledged(.repeated))
        let inbox = BridgeInbox(metrics: BridgeMetrics(), log: Log(level: .error, format: nil)) { _ in
            Issue.record("stored")
            return true
        }
        #expect(await inbox.settle(.own, attempt: 1) == .acknowledged(.own))
        #expect(await inbox.settle(.reject(.author), attempt: 1) == .rejected(.author))
    }

    @Test("Only an unavailable database makes a message wait")
    func failures() async throws {
        #expect(try await settle { _ in throw RequestError.noSuchConversation } == .rejected(.refused))
        #expect(try await settle { _ in throw RequestError.storageFull(.messages) } == .rejected(.full))
        for kind in [.unavailable(outcomeUnknown: true), .conflict(sqlState: "40P01"), .shutDown]
            as [PostgresError.Kind]
        {
            #expect(try await settle(attempt: 1_000) { _ in throw PostgresError(kind: kind, message: "") } == .later)
        }
        // The database lacks the function for a moment because a newer daemon is replacing it.
        let lacking = PostgresError(kind: .server(sqlState: "42883"), message: "")
        #expect(try await settle(attempt: 1_000) { _ in throw lacking } == .later)
        let broken = PostgresError(kind: .server(sqlState: "XX000"), message: "")
        #expect(try await settle { _ in throw broken } == .again)
        #expect(try await settle(attempt: 5) { _ in throw broken } == .rejected(.failed))
        #expect(try await settle(attempt: 5) { _ in throw Unknown() } == .rejected(.failed))
    }
}
