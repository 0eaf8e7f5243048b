import Testing

@testable import LetsSwitchClient

@Suite struct JSONPiecesTests {
    private func elements(_ text: String) -> [String]? {
        JSONPieces.elements(of: Array(text.utf8)[...])?.map { String(decoding: $0, as: UTF8.self) }
    }

    private func value(_ name: String, _ text: String) -> String? {
        JSONPieces.value(of: name, in: Array(text.utf8)[...]).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "The elements of an array are returned unchanged",
        arguments: [
            ("[]", []), (" [ \n] ", []),
            ("[1.0e2,-0,true,null]", ["1.0e2", "-0", "true", "null"]),
            (" [\t1 ,\r\n\"a\" , { } ] \n", ["1", "\"a\"", "{ }"]),
            ("[[],[[1,2],[3]],[{\"a\":[4,{}]}]]", ["[]", "[[1,2],[3]]", "[{\"a\":[4,{}]}]"]),
            (#"["]","[,","\"],[","\\"]"#, [#""]""#, #""[,""#, #""\"],[""#, #""\\""#]),
            (#"[{"}\\\"]":"{"}]"#, [#"{"}\\\"]":"{"}"#]),
            ("[{\"a\" : \"\\u00e9 é\",\n\"b\":1}]", ["{\"a\" : \"\\u00e9 é\",\n\"b\":1}"]),
        ] as [(String, [String])])
    func elementsAsWritten(text: String, pieces: [String]) {
        #expect(elements(text) == pieces)
    }

    @Test(
        "An incomplete array or another value has no elements",
        arguments: [
            "", " ", "{}", "1", "\"[]\"", "[]]", "[] x", "[,]", "[1,]", "[,1]", "[1 2]", "[1\"a\"]", "[1[]]",
            "[\"a\"\"b\"]",
            "[\"a\"1]", "[[]1]", "]", "[1}",
        ])
    func none(text: String) {
        #expect(elements(text) == nil)
    }

    @Test("An array that is cut anywhere has no elements")
    func truncated() {
        let whole = Array(#"[ {"a":["]\"",{}]} , "\\" ,12]"#.utf8)
        #expect(JSONPieces.elements(of: whole[...])?.count == 3)
        for count in whole.indices { #expect(JSONPieces.elements(of: whole[..<count]) == nil, "\(count)") }
    }

    @Test("A member is found by its name, and the last of several counts")
    func members() {
        #expect(value("a", #" { "b" : "a" , "a" : [ 1, "}" ] , "c":{"a":2} } "#) == #"[ 1, "}" ]"#)
        #expect(value("a", #"{"a":1,"\u0061":1.0e2}"#) == "1.0e2")
        #expect(value("a", #"{"b":{"a":1}}"#) == nil && value("a", "{}") == nil)
    }

    @Test(
        "A value that isn't an object has no members",
        arguments: [
            "", "[]", "{", #"{"a":1"#, #"{"a":1,}"#, #"{"a":}"#, #"{"a"}"#, "{a:1}", #"{"a":1]"#, #"{"a" 1}"#,
            #"{"a":1}}"#,
        ])
    func noObject(text: String) {
        #expect(value("a", text) == nil)
    }

    @Test("Deep nesting needs no stack")
    func deep() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(elements("[\(deep),1]") == [deep, "1"])
    }
}
