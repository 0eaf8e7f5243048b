import Testing

@testable import Wire

@Suite struct WebSocketFrameEncoderTests {
    private let mask = WebSocketMask(0x37, 0xFA, 0x21, 0x3D)

    private func encoded(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var buffer: [UInt8] = []
        write(&buffer)
        return buffer
    }

    @Test("The examples of RFC 6455, section 5.7, are encoded exactly")
    func examplesOfRFC6455Section57AreEncodedExactly() {
        let hello = Array("Hello".utf8)
        #expect(
            encoded { WebSocketFrameEncoder.encode(text: "Hello", into: &$0) } == .init(hex: "81 05 48 65 6c 6c 6f"))
        #expect(
            encoded { WebSocketFrameEncoder.encode(text: "Hello", mask: mask, into: &$0) }
                == .init(hex: "81 85 37 fa 21 3d 7f 9f 4d 51 58"))
        let fragments = encoded {
            WebSocketFrameEncoder.encode(.text, Array("Hel".utf8), isFinal: false, into: &$0)
            WebSocketFrameEncoder.encode(.continuation, Array("lo".utf8), into: &$0)
        }
        #expect(fragments == .init(hex: "01 03 48 65 6c 80 02 6c 6f"))
        #expect(encoded { WebSocketFrameEncoder.encode(.ping, hello, into: &$0) } == .init(hex: "89 05 48 65 6c 6c 6f"))
        #expect(
            encoded { WebSocketFrameEncoder.encode(.pong, hello, mask: mask, into: &$0) }
                == .init(hex: "8a 85 37 fa 21 3d 7f 9f 4d 51 58"))
        #expect(
            encoded { WebSocketFrameEncoder.encode(.binary, [UInt8](repeating: 0, count: 256), into: &$0) }.prefix(5)
                == [0x82, 0x7E, 0x01, 0x00, 0x00])
        #expect(
            encoded { WebSocketFrameEncoder.encode(.binary, [UInt8](repeating: 0, count: 65_536), into: &$0) }.prefix(
                11)
                == [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test(
        "An encoded frame is parsed unchanged",
        arguments: [0, 1, 3, 4, 7, 8, 9, 125, 126, 127, 65_535, 65_536])
    func encodedFrameIsParsedUnchanged(_ length: Int) {
        let payload = (0..<length).map { UInt8($0 % 253) }
        let fromClient = encoded { WebSocketFrameEncoder.encode(.binary, payload, mask: mask, into: &$0) }
        let fromServer = encoded { WebSocketFrameEncoder.encode(.binary, payload, into: &$0) }
        #expect(fromClient == frame(0x82, payload))
        #expect(WebSocketTranscript([fromClient], role: .server).events == [.binary(payload)])
        #expect(WebSocketTranscript([fromServer], role: .client).events == [.binary(payload)])
    }

    @Test("A frame is appended to existing bytes")
    func frameIsAppendedToExistingBytes() {
        var buffer: [UInt8] = [1, 2]
        WebSocketFrameEncoder.encode(.text, [0x61], isCompressed: true, mask: mask, into: &buffer)
        #expect(buffer == [1, 2] + frame(0xC1, "a"))
    }

    @Test("A close frame contains code and reason")
    func closeFrameContainsCodeAndReason() {
        #expect(
            encoded { WebSocketFrameEncoder.close(.goingAway, reason: "bye", into: &$0) }
                == frame(0x88, [0x03, 0xE9] + Array("bye".utf8), mask: nil))
        #expect(encoded { WebSocketFrameEncoder.close(nil, into: &$0) } == [0x88, 0x00])
        #expect(encoded { WebSocketFrameEncoder.close(.abnormalClosure, reason: "x", into: &$0) } == [0x88, 0x00])
        #expect(
            encoded { WebSocketFrameEncoder.close(.normalClosure, mask: mask, into: &$0) } == frame(0x88, [0x03, 0xE8]))
    }

    @Test(
        "A reason is cut between characters",
        arguments: [
            (String(repeating: "x", count: 123), 123), (String(repeating: "x", count: 124), 123),
            (String(repeating: "x", count: 122) + "ä", 122), (String(repeating: "€", count: 50), 123),
            ("x" + String(repeating: "😀", count: 50), 121),
        ])
    func reasonIsCutBetweenCharacters(_ reason: String, _ length: Int) {
        let bytes = encoded { WebSocketFrameEncoder.close(.policyViolation, reason: reason, into: &$0) }
        let cut = String(decoding: reason.utf8.prefix(length), as: UTF8.self)
        #expect(WebSocketTranscript([bytes], role: .client).events == [.close(1008, cut)])
        #expect(bytes.count == 4 + length)
    }

    @Test("The sendable close codes are those of RFC 6455")
    func closeCodesThatMayBeSent() {
        let sendable = (UInt16.min...UInt16.max).filter { WebSocketCloseCode(rawValue: $0).isSendable }
        #expect(sendable == Array(1000...1003) + Array(1007...1014) + Array(3000...4999))
    }
}
