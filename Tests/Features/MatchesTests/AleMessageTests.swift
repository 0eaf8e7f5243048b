import FoundationEssentials
import Matches
import Testing

@testable import Domain
@testable import Rooms

@Suite struct AleMessageTests {
    private static let id = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"

    private func message(_ text: String) -> AleMessage {
        Array(text.utf8).withUnsafeBytes { AleMessage($0) }
    }

    @Test(
        "An ale is recognised with any white space and order",
        arguments: [
            #"{"type":"ale","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF"}"#,
            #"{"id":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","type":"ale"}"#,
            " {\n\t\"type\" : \"ale\" ,\r\n \"id\" : \"6F9619FF-8B86-D011-B42D-00CF4FC964FF\" } ",
            #"{"type":"ale","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF","note":"žluť"}"#,
            #"{"type":"\u0061le","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF"}"#,
            #"{"type":"ale","extra":{"a":[1,null]},"id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF"}"#,
        ])
    func ale(text: String) throws {
        #expect(message(text) == .ale(try #require(UUID(uuidString: Self.id))))
    }

    @Test(
        "An ale may have a kind, and an unknown one is plain",
        arguments: [
            (#""clap""#, .clap), (#""thumb""#, .thumb), (#""spark""#, .spark), (#""heart""#, .heart),
            (#""fire""#, .fire),
            (#""cl\u0061p""#, .clap), (#""beer""#, .plain), (#""""#, .plain), (#""Clap""#, .plain), ("5", .plain),
            ("null", .plain), (#"{"a":1}"#, .plain),
        ] as [(String, CheerKind)])
    func kinds(kind: String, expected: CheerKind) throws {
        let room = try #require(UUID(uuidString: Self.id))
        #expect(message(#"{"type":"ale","id":"\#(Self.id)","kind":\#(kind)}"#) == .ale(room, expected))
        #expect(message(#"{"kind":\#(kind), "id":"\#(Self.id)","type":"ale"}"#) == .ale(room, expected))
    }

    @Test(
        "A message that isn't an ale gets a reason",
        arguments: [
            ("", "JSON"), ("ale", "JSON"),
            (#"{"type":"ale","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF",}"#, "JSON"),
            (#"{"type":"ale","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF","x":01}"#, "JSON"),
            (#"{"type":"ale","x":1,"id":"0x9619FF-8B86-D011-B42D-00CF4FC964FF"}"#, "UUID"),
            (#"{"type":"ale""#, "JSON"), (#"{"type":"ale"},"#, "JSON"),
            ("{}", "object whose type"), ("[]", "object whose type"), (#"{"type":1}"#, "object whose type"),
            (#"{"type":"beer"}"#, "type of a message"), (#"{"type":"handshake","id":"x"}"#, "type of a message"),
            (#"{"type":"ale"}"#, "UUID"), (#"{"type":"ale","id":"x"}"#, "UUID"),
            (#"{"type":"ale","id":"6F9619FF-8B86-D011-B42D-00CF4FC964F"}"#, "UUID"),
            (#"{"type":"ale","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FG"}"#, "UUID"),
            (#"{"type":"ale","id":"6F9619FF+8B86-D011-B42D-00CF4FC964FF"}"#, "UUID"),
            (#"{"id":"6F9619FF-8B86-D011-B42D-00CF4FC964FG","type":"ale"}"#, "UUID"),
            (#"{"type":"ale","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF"]"#, "JSON"),
            (#"{"id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF","type":"ale"]"#, "JSON"),
            (#"{"type":"ale" "id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF"}"#, "JSON"),
            (#"{"type":"bee","id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF"}"#, "type of a message"),
            (#"{"id":"6F9619FF-8B86-D011-B42D-00CF4FC964FF","type":"bee"}"#, "type of a message"),
        ])
    func other(text: String, hint: String) {
        guard case .unknown(let reason) = message(text) else {
            Issue.record("\(text) was taken for an ale")
            return
        }
        #expect(reason.contains(hint))
    }

    @Test("At each position of a UUID only hexadecimal digits or the hyphen are accepted")
    func digits() throws {
        let id = try #require(UUID(uuidString: Self.id))
        for place in 0..<36 {
            for byte in UInt8.min...UInt8.max {
                var text = Array(Self.id.utf8)
                let isHyphen = text[place] == UInt8(ascii: "-")
                text[place] = byte
                let isDigit = Character(UnicodeScalar(byte)).isHexDigit
                let parsed = text.withUnsafeBytes { UUID(ascii: $0) }
                #expect((parsed != nil) == (isHyphen ? byte == UInt8(ascii: "-") : isDigit), "\(byte) at \(place)")
                if let parsed, String(decoding: text, as: UTF8.self).uppercased() != Self.id { #expect(parsed != id) }
            }
        }
    }

    @Test("A UUID is read in either case")
    func uuids() {
        for _ in 0..<1_000 {
            let id = UUID()
            #expect(UUID(text: id.uuidString) == id)
            #expect(UUID(text: id.uuidString.lowercased()) == id)
        }
    }

    @Test("Invalid UTF-8 is invalid JSON")
    func notUTF8() {
        let bytes: [UInt8] = Array(#"{"type":"ale","id":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
        guard case .unknown(let reason) = bytes.withUnsafeBytes({ AleMessage($0) }) else {
            Issue.record("taken for an ale")
            return
        }
        #expect(reason.contains("JSON"))
    }
}
