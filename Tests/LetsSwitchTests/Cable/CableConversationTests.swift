import Access
import Foundation
import Settings
import TestSupport
import Testing

@testable import LetsSwitch

/// Conversations on `/cable`.
@Suite struct CableConversationTests {
    private func identifier(_ conversation: UUID?, _ more: String = "") -> String {
        let id = conversation.map { #","id":"\#($0)""# } ?? ""
        return #"{"channel":"ConversationChannel"\#(id)\#(more)}"#
    }

    private func perform(_ data: TestJSON, _ peer: CablePeer, _ identifier: String) async throws {
        try await peer.socket.send(
            text: CablePeer.message(String(decoding: try data.encoded(), as: UTF8.self), identifier))
    }

    @Test("A8: speaks, hears what it missed and what is said, the sender too, and reads history")
    func journey() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...3)
            let pair = try await endpoint.makeConversation(1, [2])
            let other = try await endpoint.makeConversation(2, [3])
            for number in 1...3 { try await endpoint.say(1, "\(number)", in: pair) }
            let (one, two) = (
                try await CablePeer.welcomed(at: endpoint, "?deviceId=d1"),
                try await CablePeer.welcomed(at: endpoint, "?deviceId=d2")
            )
            let (mine, hers) = (identifier(pair, #","after":1"#), identifier(nil))
            try await one.enter(mine)
            try await two.enter(hers)
            for offset in 2...3 {
                let message = try await one.hearMessage(of: mine)
                #expect(message.type == "message" && message.data["offset"].int == offset)
            }
            try await perform(["action": "speak", "content": "Hello"], one, mine)
            let heard = [try await one.hearMessage(of: mine), try await two.hearMessage(of: hers)]
            for message in heard {
                #expect(message.type == "message" && message.data["author"] == "user1")
                #expect(message.data["offset"] == 4 && message.data["content"] == "Hello")
            }
            // Of another conversation hears who subscribes to all.
            try await perform(
                ["action": "speak", "content": "Psst", "conversation": .string(other.uuidString)], two, hers)
            #expect(try await two.hearMessage(of: hers).data["content"] == "Psst")
            try await perform(["action": "history", "after": "2", "limit": 1], one, mine)
            let history = try await one.hearMessage(of: mine)
            #expect(history.type == "history" && history.data["lastOffset"] == 4)
            #expect(history.data["messages"].array?.map { $0["offset"] } == [3])
            for (data, code) in [
                (["action": "speak"], "invalid_request"), (["action": "speak", "content": " "], "invalid_request"),
                (["action": "dance"], "unknown_action"),
            ] as [(TestJSON, String)] {
                try await perform(data, one, mine)
                let error = try await one.hearMessage(of: mine)
                #expect(error.type == "error" && error.data["code"].string == code)
            }
            try await one.unsubscribe(mine)
            try await endpoint.say(2, "later", in: pair)
            _ = try await two.hearMessage(of: hers)
            try await one.hearsNothing()
        }
    }

    @Test("Who isn't in a conversation, has no name or no device is rejected")
    func rejections() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...3)
            let pair = try await endpoint.makeConversation(1, [2])
            for (query, identifier) in [
                ("?deviceId=d3", identifier(pair)), ("?deviceId=x", identifier(nil)), ("", identifier(nil)),
                ("?deviceId=d1", identifier(UUID())), ("?deviceId=d1", #"{"channel":"ConversationChannel","id":"x"}"#),
                ("?deviceId=d1", identifier(pair, #","after":"x""#)),
            ] {
                let peer = try await CablePeer.welcomed(at: endpoint, query)
                try await peer.subscribe(identifier)
                #expect(try await peer.hear() == CablePeer.rejection(identifier), "\(query) \(identifier)")
            }
        }
    }

    @Test("What is said is paid for once")
    func rates() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.cable.messageRate = 1 }
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let (peer, mine) = (try await CablePeer.welcomed(at: endpoint, "?deviceId=d1"), identifier(pair))
            try await peer.enter(mine)
            // Of ten that it may say at once, it has said one.
            for number in 1...8 {
                try await perform(["action": "speak", "content": .string("\(number)")], peer, mine)
                #expect(try await peer.hearMessage(of: mine).data["offset"].int == number)
            }
        }
    }
}
