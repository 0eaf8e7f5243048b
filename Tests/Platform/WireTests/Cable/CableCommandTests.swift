import Testing

@testable import Wire

@Suite struct CableCommandTests {
    private let room = CableIdentifier(#"{"channel":"RoomChannel","id":"7"}"#)

    private func command(_ text: String) throws(CableFault) -> CableCommand {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBytes { bytes in Result { () throws(CableFault) in try CableCommand(bytes) } }.get()
    }

    private func fault(_ text: String) -> CableFault? {
        do throws(CableFault) {
            _ = try command(text)
            return nil
        } catch {
            return error
        }
    }

    @Test("Messages of Rails' JavaScript are parsed")
    func railsJavaScript() throws {
        let identifier = #""{\"channel\":\"RoomChannel\",\"id\":\"7\"}""#
        #expect(try command(#"{"command":"subscribe","identifier":\#(identifier)}"#) == .subscribe(room))
        #expect(try command(#"{"command":"unsubscribe","identifier":\#(identifier)}"#) == .unsubscribe(room))
        #expect(
            try command(#"{"command":"message","identifier":\#(identifier),"data":"{\"action\":\"ale\"}"}"#)
                == .message(room, data: Array(#"{"action":"ale"}"#.utf8)))
    }

    @Test("Members may come in any order, with white space and unknown members")
    func layout() throws {
        let text = #" {"data":{"a":[1]}, "identifier" : "x" , "q":null,"command":"message" } "#
        #expect(try command(text) == .message(CableIdentifier("x"), data: nil))
    }

    @Test("An identifier is the client's string, whatever its escapes")
    func identifier() throws {
        let text = #"{"command":"subscribe","identifier":"{\u0022channel\u0022: \"\u00c9\"}"}"#
        let command = try command(text)
        #expect(command.identifier == CableIdentifier(#"{"channel": "É"}"#))
        #expect(command.identifier.parameters?.channel == Array("É".utf8))
        // The same letter in two scalars makes another identifier.
        #expect(command.identifier != CableIdentifier("{\"channel\": \"E\u{301}\"}"))
    }

    @Test(
        "An invalid command gives its reason",
        arguments: [
            ("", .noObject), ("hello", .noObject), ("[]", .noObject), ("\"subscribe\"", .noObject), ("{", .noObject),
            ("{\"command\":\"subscribe\",}", .noObject), ("{}", .unknownCommand), (#"{"command":1}"#, .unknownCommand),
            (#"{"command":"Subscribe","identifier":"x"}"#, .unknownCommand),
            (#"{"command":"whisper","identifier":"x"}"#, .unknownCommand), (#"{"command":"subscribe"}"#, .noIdentifier),
            (#"{"command":"subscribe","identifier":{"channel":"RoomChannel"}}"#, .noIdentifier),
            (#"{"command":"message","identifier":7,"data":"{}"}"#, .noIdentifier),
        ] as [(String, CableFault)])
    func faults(text: String, expected: CableFault) {
        #expect(fault(text) == expected)
    }

    @Test("Parameters are the text of strings or numbers")
    func parameters() throws {
        let parameters = try #require(
            CableIdentifier(#"{"channel":"C","id":12,"name":"x","presence":true,"no":null,"list":[]}"#).parameters)
        #expect(parameters.text("id") == "12" && parameters.text("name") == "x")
        #expect(
            parameters.text("presence") == nil && parameters.text("list") == nil && parameters.text("nothing") == nil)
        #expect(parameters.isTrue("presence") && !parameters.isTrue("id"))
        #expect(parameters.has("list") && !parameters.has("no") && !parameters.has("nothing"))
        #expect(CableIdentifier(#"{"presence":"true"}"#).parameters?.isTrue("presence") == true)
        #expect(CableIdentifier("[]").parameters == nil)
        #expect(CableIdentifier(#"{"channel":1}"#).parameters?.channel == nil)
    }

    @Test("An identifier has at most 1,024 bytes")
    func length() {
        #expect(!CableIdentifier(String(repeating: "é", count: 512)).isTooLong)
        #expect(CableIdentifier(String(repeating: "é", count: 512) + "x").isTooLong)
    }

    @Test("An action has the name in its data, or receive")
    func actions() throws {
        func action(_ text: String) -> CableAction? { CableAction(Array(text.utf8)) }
        #expect(action(#"{"action":"ale"}"#)?.isNamed("ale") == true)
        for text in ["{}", #"{"action":null}"#, #"{"action":""}"#] { #expect(action(text)?.isNamed("receive") == true) }
        for text in ["", "[]", "7", #"{"action":7}"#, #"{"action":["ale"]}"#] { #expect(action(text) == nil) }
        #expect(try #require(action(#"{"action":"speak","content":"x"}"#)).members.string("content") == Array("x".utf8))
    }

    @Test("Commands of the extended protocol are invalid in the plain one")
    func extended() throws {
        func extended(_ text: String) throws -> CableCommand {
            try Array(text.utf8).withUnsafeBytes { try CableCommand($0, isExtended: true) }
        }
        let x = CableIdentifier("x")
        let history = #"{"since":1795320000,"streams":{"a":{"offset":12,"epoch":"b"}}}"#
        let missed = CableHistory(
            since: 1_795_320_000, positions: [CablePosition(stream: "a", epoch: "b", offset: 12)])
        for (text, command) in [
            (#"{"command":"history","identifier":"x","history":\#(history)}"#, .history(x, missed)),
            (#"{"command":"join","identifier":"x","presence":{"id":"1"}}"#, .presence(x, .join)),
            (#"{"command":"leave","identifier":"x"}"#, .presence(x, .leave)),
            (#"{"command":"presence","identifier":"x"}"#, .presence(x, .presence)),
        ] as [(String, CableCommand)] {
            #expect(fault(text) == .unknownCommand)
            #expect(try extended(text) == command)
        }
        let subscribe = #"{"command":"subscribe","identifier":"x","history":\#(history),"presence":{"id":"1"}}"#
        #expect(try command(subscribe) == .subscribe(x))
        #expect(try extended(subscribe) == .resume(x, CableResumption(history: missed, joins: true)))
        #expect(try extended(#"{"command":"subscribe","identifier":"x"}"#) == .subscribe(x))
        for text in [
            "7", "[]", #"{"streams":{"a":7}}"#, #"{"streams":{"a":{"offset":-1,"epoch":"b"}}}"#, #"{"since":"x"}"#,
        ] {
            let command = #"{"command":"history","identifier":"x","history":\#(text)}"#
            #expect(try extended(command) == .history(x, nil), "\(text)")
        }
        let empty = CableHistory(since: nil)
        for text in ["{}", #"{"since":null,"streams":{}}"#, #"{"since":false}"#] {
            #expect(CableHistory(Array(text.utf8)) == empty)
        }
    }

    @Test("The last position of a repeated stream counts")
    func streams() {
        func history(_ streams: [String]) -> CableHistory? {
            CableHistory(Array(#"{"streams":{\#(streams.joined(separator: ","))}}"#.utf8))
        }
        let twice = history([#""a":7"#, #""b":{"offset":1,"epoch":"x"}"#, #""a":{"offset":2,"epoch":"y"}"#])
        let expected = [("a", "y", 2), ("b", "x", 1)].map { CablePosition(stream: $0, epoch: $1, offset: $2) }
        #expect(twice?.positions == expected)
        let many = (0..<10_001).map { #""\#($0)":{"offset":\#($0),"epoch":""}"# }
        #expect(history(Array(many.prefix(10_000)))?.positions.count == 10_000)
        #expect(history(many) == nil)
    }
}
