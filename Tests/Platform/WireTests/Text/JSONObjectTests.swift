import Testing

@testable import Wire

@Suite struct JSONObjectTests {
    private func read(_ text: String) -> JSONObject? { JSONObject(Array(text.utf8)) }

    @Test("Members are found by name with their types")
    func members() throws {
        let object = try #require(
            read(#" { "a" : "x" ,"b":-1.5e3,"c":true,"d":false,"e":null,"f":[{"g":"]}"},"\\"],"h":{} } "#))
        #expect(object["a"] == .string(Array("x".utf8)))
        #expect(object["b"] == .number(Array("-1.5e3".utf8)))
        #expect(object["c"] == .boolean(true) && object["d"] == .boolean(false) && object["e"] == .null)
        #expect(object["f"] == .nested(Array(#"[{"g":"]}"},"\\"]"#.utf8)))
        #expect(object["h"] == .nested(Array("{}".utf8)))
        #expect(object["g"] == nil && object.string("b") == nil)
    }

    @Test("The last member of a repeated name counts")
    func twice() {
        #expect(read(#"{"a":"1","a":"2"}"#)?.string("a") == Array("2".utf8))
        #expect(read(#"{"a":"1","\u0061":3}"#)?["a"] == .number(Array("3".utf8)))
    }

    @Test("All members that count are listed in the order of their names")
    func all() throws {
        let object = try #require(read(#"{"b":1,"a":2,"b":3,"c":4,"\u0061":5,"b":6}"#))
        #expect(object.all.map(\.name) == ["b", "a", "c"].map { Array($0.utf8) })
        #expect(object.all.map(\.value) == ["6", "5", "4"].map { .number(Array($0.utf8)) })
        #expect(object.count == 6)
    }

    @Test("Names are compared by their bytes")
    func canonicalEquivalence() {
        #expect(read("{\"e\u{301}\":1}")?["é"] == nil)
        #expect(read("{\"é\":1}")?["é"] == .number([UInt8(ascii: "1")]))
    }

    @Test(
        "Escapes are decoded",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\uD83C\udf7a""#, "é🍺"),
            (#""\ud83cx""#, "\u{FFFD}x"), (#""\udf7a""#, "\u{FFFD}"), (#""\ud83c\u0041""#, "\u{FFFD}A"),
            (#""\ud83c\ud83c\udf7a""#, "\u{FFFD}🍺"), (#""\u0000""#, "\0"), (#""\ud83c""#, "\u{FFFD}"),
        ])
    func escapes(written: String, text: String) {
        #expect(read("{\"a\":\(written)}")?.string("a") == Array(text.utf8))
    }

    @Test(
        "A text that isn't an object is refused",
        arguments: ["", "[]", "1", "\"a\"", "null", "{", "{}x", "{'a':1}", "{\"a\":01}"])
    func none(text: String) {
        #expect(read(text) == nil)
    }

    @Test("An empty object has no members")
    func emptyObjectHasNoMembers() {
        #expect(read(" {\n} ")?["a"] == .none)
    }
}
