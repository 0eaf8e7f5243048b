import Domain
import Foundation
import JourneyTestSupport
import Questions
import Settings
import TestSupport
import Testing

/// The capacity of a question session, and the share of each network.
@Suite struct SessionCapacityTests {
    private func from(_ address: String) -> TestHeaders { ["X-Forwarded-For": address] }

    private func join(_ session: TestSession, from address: String) async throws -> QuestionPeer {
        try await QuestionPeer.connect(
            to: session.endpoint, "/questions/\(session.id)/socket", headers: from(address))
    }

    private func isRefused(_ session: TestSession, from address: String) async throws -> Bool {
        let refusal = try await WebSocketTestClient.refusal(
            at: session.endpoint, "/questions/\(session.id)/socket", headers: from(address))
        return refusal.status == 409 && refusal.code == "session_full"
    }

    private func identifier(_ session: TestSession, _ number: Int) -> String {
        #"{"channel":"QuestionsChannel","session":"\#(session.id)","n":\#(number)}"#
    }

    @Test("A cable connection takes one place in a session, even with many subscriptions")
    func onePlace() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.sessionSize = 2 }
            let session = try await TestSession.make(at: endpoint)
            let cable = try await CablePeer.welcomed(at: endpoint)
            func next() async throws -> String {
                while true {
                    let message = try await cable.receive()
                    if message.contains("_subscription") { return message }
                }
            }
            for number in 0..<10 {
                try await cable.subscribe(identifier(session, number))
                #expect(try await next() == CablePeer.confirmation(identifier(session, number)))
            }
            let other = try await session.join()
            let refusal = try await WebSocketTestClient.refusal(at: endpoint, "/questions/\(session.id)/socket")
            #expect(refusal.status == 409 && refusal.code == "session_full")
            // The connection keeps its place while it has a subscription.
            for number in 0..<9 { try await cable.unsubscribe(identifier(session, number)) }
            try await cable.subscribe(identifier(session, 11))
            #expect(try await next() == CablePeer.confirmation(identifier(session, 11)))
            for number in [9, 11] { try await cable.unsubscribe(identifier(session, number)) }
            try await eventually("the place is free") {
                do {
                    await (try await session.join()).socket.close()
                    return true
                } catch is UpgradeRefused {
                    return false
                }
            }
            await other.socket.close()
        }
    }

    @Test("A network never takes all places of a session")
    func share() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.sessionSize = 8 }
            let session = try await TestSession.make(at: endpoint)
            let peers = try await (0..<4).map { $0 }.asyncMap { _ in try await join(session, from: "203.0.113.7") }
            #expect(try await isRefused(session, from: "203.0.113.7"))
            // All addresses of a network of 48 bits count together.
            var others = [
                try await join(session, from: "2001:db8:1:1::1"), try await join(session, from: "2001:db8:1:2::1"),
            ]
            #expect(try await isRefused(session, from: "2001:db8:1:3::1"))
            for number in 1...2 { others.append(try await join(session, from: "198.51.100.\(number)")) }
            #expect(try await isRefused(session, from: "198.51.100.3"))
            // A cable connection counts for its network, too.
            await peers[0].socket.close()
            let cable = try await CablePeer.welcomed(at: endpoint, headers: from("203.0.113.7"))
            try await cable.subscribe(identifier(session, 0))
            #expect(try await cable.receive() == CablePeer.rejection(identifier(session, 0)))
            let stranger = try await CablePeer.welcomed(at: endpoint, headers: from("198.51.100.4"))
            try await eventually("the place is free") {
                try await stranger.subscribe(identifier(session, 0))
                return try await stranger.receive() == CablePeer.confirmation(identifier(session, 0))
            }
        }
    }

    @Test("The presenter gets a place in a full session")
    func presenter() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.sessionSize = 2 }
            let session = try await TestSession.make(at: endpoint)
            let others = [try await session.join(), try await session.join()]
            let path = "/questions/\(session.id)/socket"
            #expect(try await WebSocketTestClient.refusal(at: endpoint, path).code == "session_full")
            let presenter = try await session.join(isLive: true, asPresenter: true)
            try await presenter.receiveList()
            let wrong: TestHeaders = ["Authorization": "Bearer wrong"]
            #expect(try await WebSocketTestClient.refusal(at: endpoint, path, headers: wrong).status == 409)
            for other in others { await other.socket.close() }
        }
    }

    @Test("A user who enters while the last other connection leaves gets a place")
    func lastLeaves() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let session = try await TestSession.make(at: endpoint)
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<50 {
                            let peer = try await session.join(isLive: true)
                            try await peer.receiveList()
                            await peer.socket.close()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Asks from one address, each time as another device, until that is refused.
    ///
    /// - Returns: The number of questions that were stored.
    private func askUntilRefused(
        _ session: TestSession, from address: String, device: (Int) -> String
    ) async throws -> Int {
        for number in 0..<60 {
            let peer = try await QuestionPeer.connect(
                to: session.endpoint, "/questions/\(session.id)/socket\(device(number))", headers: from(address))
            let answer = try await peer.ask("Why?")
            await peer.socket.close()
            if answer["success"] == true { continue }
            #expect(answer["message"].string?.hasPrefix("Your address has asked too many questions") == true)
            return number
        }
        throw ClientFailure.violation("no question was refused")
    }

    @Test("A network may ask a tenth of a session's questions at once")
    func questions() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.questionsPerSession = 100 }
            let session = try await TestSession.make(at: endpoint)
            // A slow machine stores more: one a second is admitted afterwards. Without a device, one question counts as ten.
            var stored = try await askUntilRefused(session, from: "203.0.113.7") { _ in "" }
            #expect(stored >= 1)
            let named = try await askUntilRefused(session, from: "203.0.113.8") { "?deviceId=d\($0)" }
            #expect(named >= 10)
            stored += named
            let cable = try await CablePeer.welcomed(at: endpoint, headers: from("203.0.113.9"))
            try await cable.enter(identifier(session, 0))
            var isRefused = false
            // Before an asker's own limit of six a minute.
            for _ in 0..<5 where !isRefused {
                try await cable.perform(["action": "ask", "content": "When?"], identifier(session, 0))
                while true {
                    let message = try await cable.receiveMessage(of: identifier(session, 0))
                    guard message.type == "questionResponse" else { continue }
                    if message.data["success"] == true { stored += 1 } else { isRefused = true }
                    break
                }
            }
            #expect(isRefused)
            #expect(try await session.list().count == stored)
            _ = try await join(session, from: "203.0.113.10").asked("Where?")
            // Other sessions aren't concerned.
            _ = try await join(try await TestSession.make(at: endpoint), from: "203.0.113.7").asked("Why?")
        }
    }
}
