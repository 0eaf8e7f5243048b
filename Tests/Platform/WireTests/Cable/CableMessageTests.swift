import Testing

@testable import Wire

@Suite struct CableMessageTests {
    private let room = CableIdentifier(#"{"channel":"RoomChannel","id":"7"}"#)

    private func text(_ message: CableMessage) -> String { String(decoding: message.bytes, as: UTF8.self) }

    @Test("Messages have the members in the order that clients expect")
    func order() {
        let identifier = #""{\"channel\":\"RoomChannel\",\"id\":\"7\"}""#
        #expect(text(.welcome) == #"{"type":"welcome"}"#)
        #expect(text(.ping(1_795_320_000)) == #"{"type":"ping","message":1795320000}"#)
        #expect(text(.confirmation(room)) == #"{"identifier":\#(identifier),"type":"confirm_subscription"}"#)
        #expect(text(.rejection(room)) == #"{"identifier":\#(identifier),"type":"reject_subscription"}"#)
        #expect(
            text(.message(room, CableContent("aleResponse")))
                == #"{"identifier":\#(identifier),"message":{"type":"aleResponse","data":{}}}"#)
        #expect(
            text(.message(room, .error("unknown_action", "No \"x\".")))
                == #"{"identifier":\#(identifier),"message":{"type":"error","data":{"code":"unknown_action","reason":"No \"x\"."}}}"#
        )
    }

    @Test("Messages of the extended protocol have the same form")
    func extendedOrder() {
        let identifier = #""{\"channel\":\"RoomChannel\",\"id\":\"7\"}""#
        #expect(text(.session("s", restored: [])) == #"{"type":"welcome","sid":"s"}"#)
        #expect(
            text(.session("s", restored: [room, CableIdentifier("\"")]))
                == #"{"type":"welcome","sid":"s","restored":true,"restored_ids":[\#(identifier),"\""]}"#)
        #expect(
            text(.kept(room, CableContent("message"), CablePosition(stream: "a", epoch: "b", offset: 12)))
                == #"{"identifier":\#(identifier),"message":{"type":"message","data":{}},"stream_id":"a","epoch":"b","offset":12}"#
        )
        #expect(text(.historyConfirmation(room)) == #"{"identifier":\#(identifier),"type":"confirm_history"}"#)
        #expect(text(.historyRejection(room)) == #"{"identifier":\#(identifier),"type":"reject_history"}"#)
        for (presence, message) in [
            (.join("user1"), #"{"type":"join","id":"user1","info":{"name":"user1"}}"#),
            (.leave("user1"), #"{"type":"leave","id":"user1"}"#), (.unavailable, #"{"type":"error"}"#),
            (.info(["user1"]), #"{"type":"info","total":1,"records":[{"id":"user1","info":{"name":"user1"}}]}"#),
        ] as [(CablePresence, String)] {
            #expect(
                text(.presence(room, presence))
                    == #"{"identifier":\#(identifier),"type":"presence","message":\#(message)}"#)
        }
    }

    @Test(
        "A disconnection says whether to reconnect",
        arguments: [
            (.unauthorized, "unauthorized", false), (.tokenExpired, "token_expired", false),
            (.invalidRequest, "invalid_request", false), (.serverRestart, "server_restart", true),
            (.remote, "remote", false),
        ] as [(CableDisconnect, String, Bool)])
    func disconnection(reason: CableDisconnect, name: String, reconnects: Bool) {
        #expect(text(.disconnect(reason)) == #"{"type":"disconnect","reason":"\#(name)","reconnect":\#(reconnects)}"#)
    }

    @Test(
        "An identifier returns as the same string",
        arguments: [
            "", "x", "{\"a\": \"b\\\\c\"}", "\u{0}\u{1F}\u{7F}\n\r\t\u{8}", "é e\u{301} 🍺 \u{2028}", "</script>&'",
        ])
    func identifiers(identifier: String) throws {
        let bytes = CableMessage.confirmation(CableIdentifier(identifier)).bytes
        #expect(JSONObject(bytes)?.string("identifier") == Array(identifier.utf8))
    }

    @Test(
        "The subprotocol is Rails' if it is offered",
        arguments: [
            (["actioncable-v1-json, actioncable-unsupported"], .json),
            (["actioncable-unsupported,actioncable-v1-json"], .json),
            (["chat", " actioncable-v1-json\t"], .json), (["actioncable-v1-ext-json, actioncable-v1-json"], .extended),
            (["actioncable-v1-json", "actioncable-v1-ext-json"], .extended),
            (["actioncable-unsupported"], .unsupported), (["chat,actioncable-unsupported"], .unsupported),
            ([], .none), (["chat"], .none), (["actioncable-v1-ext-json"], .extended), (["Actioncable-V1-Json"], .none),
            ([""], .none), (["actioncable-v1-jsonx"], .none),
            // Only the first 32 subprotocols are read.
            ([String(repeating: "a,", count: 31) + "actioncable-v1-json"], .json),
            ([String(repeating: "a,", count: 32) + "actioncable-v1-json"], .none),
        ] as [([String], CableSubprotocol)])
    func subprotocols(offers: [String], expected: CableSubprotocol) throws {
        let fields = offers.map { "Sec-WebSocket-Protocol: \($0)\r\n" }.joined()
        var parser = HTTPRequestParser(limits: HTTPLimits())
        let bytes = Array("GET /cable HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
        let found = try bytes.withUnsafeBytes { bytes in
            var input = bytes
            guard case .head(let head)? = try parser.next(&input) else { return CableSubprotocol?.none }
            return CableSubprotocol(offeredBy: head.headers)
        }
        #expect(found == expected)
    }

    @Test(
        "A message of 40,000 bytes is split into three frames of at most 16,384",
        arguments: [
            (0, [0]), (16_384, [16_384]), (16_385, [16_384, 1]), (40_000, [16_384, 16_384, 7232]),
        ])
    func fragments(count: Int, payloads: [Int]) throws {
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var frames: [UInt8] = []
        message.withUnsafeBytes {
            WebSocketFrameEncoder.encode(.text, $0, longestPayload: 16_384, isCompressed: true, into: &frames)
        }
        var rest = frames[...]
        var received: [UInt8] = []
        for (index, payload) in payloads.enumerated() {
            let opcode: UInt8 = index == 0 ? 0x41 : 0x00
            #expect(rest.first == (index == payloads.count - 1 ? 0x80 : 0) | opcode)
            rest = rest.dropFirst(payload > 125 ? 4 : 2)
            received += rest.prefix(payload)
            rest = rest.dropFirst(payload)
        }
        #expect(rest.isEmpty && received == message)
    }
}
