import Access
import Foundation
import JourneyTestSupport
import Postgres
import Settings
import TestSupport
import Testing

@testable import Conversations

/// AnyCable's extended protocol on `/cable`, for a client that was disconnected.
@Suite struct CableExtendedTests {
    private typealias RoomPeer = ExtendedCablePeer

    private func identifier(_ conversation: UUID?) -> String {
        #"{"channel":"ConversationChannel"\#(conversation.map { #","id":"\#($0)""# } ?? "")}"#
    }

    /// Runs the body with two users who have a conversation.
    private func with(_ body: (Journey, ClientEndpoint, UUID) async throws -> Void) async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.cable.messageRate = 0 }
            try await endpoint.makeUsers(1...2)
            try await body(journey, endpoint, try await endpoint.makeConversation(1, [2]))
        }
    }

    @Test("A client that restores its session receives missed and new messages")
    func restored() async throws {
        try await with { _, endpoint, pair in
            let mine = identifier(pair)
            try await endpoint.send(1, "1", in: pair)
            let first = try await RoomPeer.connect(to: endpoint, "d2")
            #expect(first.welcome == #"{"type":"welcome","sid":"\#(first.session)"}"#)
            try await first.send("subscribe", mine, RoomPeer.history(since: Int(Date().timeIntervalSince1970) - 3_600))
            #expect(try await first.cable.receive() == CablePeer.confirmation(mine))
            let (offset, epoch) = try await first.receiveMessage()
            #expect(offset == 1 && epoch.count == 8)
            #expect(try await first.cable.receive() == RoomPeer.answer("confirm_history", mine))
            try await endpoint.send(1, "2", in: pair)
            #expect(try await first.receiveMessage() == (2, epoch))
            await first.close()
            for number in 3...4 { try await endpoint.send(1, "\(number)", in: pair) }

            let second = try await RoomPeer.connect(to: endpoint, "d2", restoring: first.session)
            #expect(
                second.welcome
                    == #"{"type":"welcome","sid":"\#(second.session)","restored":true,"restored_ids":[\#(CablePeer.quoted(mine))]}"#
            )
            #expect(second.session != first.session)
            // A message sent before the client has given its last offset arrives after the missed ones.
            try await endpoint.send(1, "5", in: pair)
            try await second.send("history", mine, RoomPeer.history(pair, after: 2, epoch: epoch))
            for number in 3...5 { #expect(try await second.receiveMessage() == (number, epoch)) }
            #expect(try await second.cable.receive() == RoomPeer.answer("confirm_history", mine))
            try await endpoint.send(1, "6", in: pair)
            #expect(try await second.receiveMessage() == (6, epoch))

            // A session can be restored once, and only by its device.
            for (device, session) in [("d2", first.session), ("d1", second.session), ("d2", "none")] {
                let other = try await RoomPeer.connect(to: endpoint, device, restoring: session)
                #expect(other.welcome == #"{"type":"welcome","sid":"\#(other.session)"}"#)
            }
            try await second.send("unsubscribe", mine)
            await second.close()
            let third = try await RoomPeer.connect(to: endpoint, "d2", restoring: second.session)
            #expect(third.welcome == #"{"type":"welcome","sid":"\#(third.session)"}"#)
        }
    }

    @Test("A restored client may skip its missed messages")
    func silentlyRestored() async throws {
        try await with { _, endpoint, pair in
            let mine = identifier(pair)
            let first = try await RoomPeer.connect(to: endpoint, "d2")
            try await first.cable.enter(mine)
            await first.close()
            try await endpoint.send(1, "missed", in: pair)
            let second = try await RoomPeer.connect(to: endpoint, "d2", restoring: first.session)
            #expect(second.welcome.contains("restored_ids"))
            try await second.cable.socket.send(text: CablePeer.message(#"{"action":"speak","content":"Hello"}"#, mine))
            #expect(try await second.receiveMessage().offset == 2)
            await second.close()
            let third = try await RoomPeer.connect(to: endpoint, "d2", restoring: second.session)
            let journey = Task {
                // Messages are sent until the session is restored.
                var number = 0
                while !Task.isCancelled {
                    number += 1
                    try await endpoint.send(1, "\(number)", in: pair)
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            #expect(try await third.receiveMessage().offset > 2)
            journey.cancel()
            _ = await journey.result
        }
    }

    @Test("A confirmed subscriber receives every later message")
    func confirmed() async throws {
        try await with { journey, endpoint, pair in
            // The second lookup, after the confirmation, waits until a message was stored.
            try await journey.sql("CREATE SEQUENCE looks")
            try await journey.sql(
                "ALTER FUNCTION conversations.positions(text, integer) RENAME TO positions_as_they_stand")
            try await journey.sql(
                """
                CREATE FUNCTION conversations.positions(p_device text, p_limit integer) RETURNS TABLE (
                    name text, user_id bigint, conversation_id uuid, last_number bigint, has_left boolean
                ) LANGUAGE plpgsql AS $$
                BEGIN
                    IF nextval('looks') = 2 THEN
                        WHILE NOT EXISTS (SELECT FROM conversations.message) LOOP PERFORM pg_sleep(0.005); END LOOP;
                    END IF;
                    RETURN QUERY SELECT * FROM conversations.positions_as_they_stand(p_device, p_limit);
                END
                $$
                """)
            let peer = try await RoomPeer.connect(to: endpoint, "d2")
            try await peer.cable.enter(identifier(pair))
            try await endpoint.send(1, "At once", in: pair)
            #expect(try await peer.receiveMessage().offset == 1)
        }
    }

    @Test(
        "A repeated history request is answered each time"
    )
    func severalTimes() async throws {
        try await with { _, endpoint, pair in
            // These are more messages than a page holds.
            for number in 1...120 { try await endpoint.send(1, "\(number)", in: pair) }
            let mine = identifier(pair)
            let peer = try await RoomPeer.connect(to: endpoint, "d2")
            try await peer.send("subscribe", mine, RoomPeer.history(since: Int(Date().timeIntervalSince1970) - 3_600))
            for _ in 0..<2 {
                try await peer.send("history", mine, RoomPeer.history(since: Int(Date().timeIntervalSince1970) - 3_600))
            }
            try await peer.send("history", mine, RoomPeer.history(UUID(), after: 0, epoch: "other"))
            #expect(try await peer.cable.receive() == CablePeer.confirmation(mine))
            var (answers, offsets) = ([String](), [Int]())
            while answers.count < 4 {
                let received = try await peer.receive()
                if let offset = received["offset"].int {
                    offsets.append(offset)
                } else {
                    answers.append(received["type"].string ?? "")
                }
            }
            #expect(answers.sorted() == ["confirm_history", "confirm_history", "confirm_history", "reject_history"])
            #expect(Set(offsets) == Set(1...120) && offsets.last == 120)
            try await endpoint.send(1, "121", in: pair)
            #expect(try await peer.receiveMessage().offset == 121)
            try await peer.cable.expectNothing()
        }
    }

    @Test("During a database outage, the number of waiting history requests is limited")
    func outage() async throws {
        try await with { journey, endpoint, pair in
            try await journey.sql("CREATE TABLE outage AS SELECT true")
            try await journey.sql(
                """
                ALTER FUNCTION conversations.histories(text, uuid, double precision, uuid[], integer)
                RENAME TO histories_as_they_stand
                """)
            try await journey.sql(
                """
                CREATE FUNCTION conversations.histories(
                    p_device text, p_conversation uuid, p_since double precision, p_named uuid[], p_limit integer
                ) RETURNS TABLE (
                    conversation_id uuid, epoch text, last_number bigint, first_number bigint, since_number bigint
                ) LANGUAGE plpgsql AS $$
                BEGIN
                    IF EXISTS (SELECT FROM outage) THEN
                        RAISE disk_full;
                    END IF;
                    RETURN QUERY SELECT * FROM conversations.histories_as_they_stand(
                        p_device, p_conversation, p_since, p_named, p_limit);
                END
                $$
                """)
            let mine = identifier(pair)
            let peer = try await RoomPeer.connect(to: endpoint, "d2")
            try await peer.cable.enter(mine)
            let (waiting, refused) = (ConversationSubscription.unreadLimit, 3)
            for _ in 0..<waiting + refused {
                try await peer.send("history", mine, RoomPeer.history(since: Int(Date().timeIntervalSince1970) - 3_600))
            }
            for _ in 0..<refused {
                #expect(try await peer.cable.receive() == RoomPeer.answer("reject_history", mine))
            }
            try await journey.sql("DELETE FROM outage")
            for _ in 0..<waiting {
                #expect(try await peer.cable.receive() == RoomPeer.answer("confirm_history", mine))
            }
        }
    }

    @Test("A repeated message is sent only to its author")
    func repeated() async throws {
        try await with { _, endpoint, pair in
            let mine = identifier(pair)
            let peer = try await RoomPeer.connect(to: endpoint, "d2")
            try await peer.cable.enter(mine)
            let message = CablePeer.message(#"{"action":"speak","content":"Hello","id":"\#(UUID())"}"#, mine)
            try await peer.cable.socket.send(text: message)
            #expect(try await peer.receiveMessage().offset == 1)
            try await peer.cable.socket.send(text: message)
            let again = try await peer.receive()
            #expect(again["message"]["data"]["offset"] == 1 && again["offset"].isAbsent && again["stream_id"].isAbsent)
        }
    }

    @Test("A request for unavailable history is refused")
    func rejected() async throws {
        try await with { journey, endpoint, pair in
            try await endpoint.send(1, "1", in: pair)
            let epoch = try await journey.sql("SELECT epoch FROM conversations.conversation")[0].string("epoch")
            let peer = try await RoomPeer.connect(to: endpoint, "d2")
            var offset = 1
            for (place, history) in [
                RoomPeer.history(pair, after: 0, epoch: "other"), RoomPeer.history(UUID(), after: 0, epoch: epoch),
                RoomPeer.history(pair, after: 9, epoch: epoch),
            ].enumerated() {
                let mine = #"{"channel":"ConversationChannel","n":\#(place)}"#
                try await peer.send("subscribe", mine, history)
                #expect(try await peer.cable.receive() == CablePeer.confirmation(mine))
                #expect(try await peer.cable.receive() == RoomPeer.answer("reject_history", mine))
                offset += 1
                try await endpoint.send(1, "\(offset)", in: pair)
                #expect(try await peer.receiveMessage() == (offset, epoch))
                // The separate `history` command is rejected too.
                try await peer.send("history", mine, history)
                #expect(try await peer.cable.receive() == RoomPeer.answer("reject_history", mine))
                try await peer.send("history", mine, #","history":7"#)
                #expect(try await peer.cable.receive() == RoomPeer.answer("reject_history", mine))
                try await peer.send("history", mine, RoomPeer.history(pair, after: offset - 1, epoch: epoch))
                #expect(try await peer.receiveMessage() == (offset, epoch))
                #expect(try await peer.cable.receive() == RoomPeer.answer("confirm_history", mine))
                try await peer.send("unsubscribe", mine)
            }
            // Purged messages are no longer in the history.
            try await journey.sql("DELETE FROM conversations.message WHERE number < 3")
            let mine = identifier(pair)
            for (after, answer) in [(1, "reject_history"), (2, "confirm_history")] {
                try await peer.send("subscribe", mine, RoomPeer.history(pair, after: after, epoch: epoch))
                #expect(try await peer.cable.receive() == CablePeer.confirmation(mine))
                if after == 2 {
                    for number in 3...offset { #expect(try await peer.receiveMessage() == (number, epoch)) }
                }
                #expect(try await peer.cable.receive() == RoomPeer.answer(answer, mine))
                try await peer.send("unsubscribe", mine)
            }
            // A channel that stores nothing has no history.
            let reminders = #"{"channel":"RemindersChannel"}"#
            try await peer.send("subscribe", reminders, RoomPeer.history(since: 0))
            #expect(try await peer.cable.receive() == CablePeer.confirmation(reminders))
            #expect(try await peer.cable.receive() == RoomPeer.answer("reject_history", reminders))
        }
    }

    @Test("Presence is reported by join and leave")
    func presence() async throws {
        try await with { _, endpoint, pair in
            let mine = identifier(pair)
            let peer = try await RoomPeer.connect(to: endpoint, "d2")
            try await peer.cable.socket.send(text: #"{"command":"pong"}"#)
            try await peer.cable.enter(mine)
            func receive(_ presence: String) async throws {
                #expect(
                    try await peer.cable.receive()
                        == #"{"identifier":\#(CablePeer.quoted(mine)),"type":"presence","message":\#(presence)}"#)
            }
            let records = (1...2).map { #"{"id":"user\#($0)","info":{"name":"user\#($0)"}}"# }
            try await peer.send("presence", mine)
            try await receive(#"{"type":"info","total":1,"records":[\#(records[1])]}"#)
            try await peer.send("join", mine, #","presence":{"id":"2"}"#)
            let other = try await CablePeer.welcomed(at: endpoint, "?deviceId=d1")
            try await other.enter(mine)
            try await receive(#"{"type":"join","id":"user1","info":{"name":"user1"}}"#)
            try await peer.send("presence", mine)
            try await receive(#"{"type":"info","total":2,"records":[\#(records.joined(separator: ","))]}"#)
            // There is no history for all conversations together.
            let all = identifier(nil)
            try await peer.cable.enter(all)
            try await peer.send("presence", all)
            #expect(
                try await peer.cable.receive()
                    == #"{"identifier":\#(CablePeer.quoted(all)),"type":"presence","message":{"type":"error"}}"#)
            // The plain protocol has no such command.
            try await other.socket.send(text: #"{"command":"presence","identifier":\#(CablePeer.quoted(mine))}"#)
            try await other.expectNothing()
            let ignored = try await MetricsReading(endpoint)[
                "letsswitch_cable_ignored_total{reason=\"unknown_command\"}"]
            #expect(ignored == 1)
        }
    }

    @Test("Each offset arrives once and in order, even if connections are cut at random")
    func cuts() async throws {
        try await Journey.run { journey in
            var endpoints: [ClientEndpoint] = []
            for _ in 0..<2 { endpoints.append(try await journey.daemon { $0.cable.messageRate = 0 }) }
            let daemons = endpoints
            try await daemons[0].makeUsers(1...3)
            let group = try await daemons[0].makeConversation(1, [2, 3])
            let (count, cuts) = (300, 40)
            let sending = Task { try await ClientEndpoint.sendFromTwoUsers(count, in: group, at: daemons) }
            var random = SeededRandom(seed: 11)
            var places = Set<Int>()
            while places.count < cuts { places.insert(Int.random(in: 1..<count, using: &random)) }
            let (all, began) = (identifier(nil), Int(Date().timeIntervalSince1970) - 60)
            var (offsets, epoch, session, restored) = ([Int](), "", String?.none, 0)
            for (number, place) in (places.sorted() + [count]).enumerated() {
                // Four of five reconnections go to the same daemon.
                let peer = try await RoomPeer.connect(to: daemons[number % 5 == 4 ? 1 : 0], "d3", restoring: session)
                let history =
                    offsets.isEmpty
                    ? RoomPeer.history(since: began)
                    : RoomPeer.history(since: began, group, after: offsets.count, epoch: epoch)
                if peer.welcome.contains("restored") {
                    restored += 1
                    try await peer.send("history", all, history)
                } else {
                    try await peer.send("subscribe", all, history)
                    #expect(try await peer.cable.receive() == CablePeer.confirmation(all))
                }
                while offsets.count < place {
                    let message = try await peer.receive()
                    guard message["type"].string != "confirm_history" else { continue }
                    offsets.append(message["offset"].int ?? 0)
                    epoch = message["epoch"].string ?? ""
                }
                session = peer.session
                // The connection ends without a close frame, like a phone's.
                await peer.close()
            }
            try await sending.value
            #expect(offsets == Array(1...count))
            #expect(restored > cuts / 4)
        }
    }
}
