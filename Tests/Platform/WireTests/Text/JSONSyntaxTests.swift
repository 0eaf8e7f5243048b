import Testing
import Wire

@Suite struct JSONSyntaxTests {
    private func isValid(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { JSONSyntax.isValid($0) }
    }

    static let texts = [
        "null", "true", "false", "0", "-0", "10", "-1.5e+10", "0.0E-0", "1e5", #""""#,
        #""\"\\\/\b\f\n\r\t\u00e9\uD800""#,
        "\"ž😀\u{7F}\"", "[]", "{}", "[ ]", "{ }", "[1]", "[[],{}]", #"{"":0}"#, #"{"a":1,"a":2}"#,
        " \t\r\n{ \"a\" : [ 1 , { \"b\" : null } ] , \"c\" : \"\" } \n", "1e999999",
    ]

    @Test("Valid JSON is accepted", arguments: texts)
    func valid(text: String) {
        #expect(isValid(Array(text.utf8)))
    }

    @Test("Truncated arrays, objects and strings are refused", arguments: texts)
    func truncated(text: String) {
        let bytes = Array(text.trimmedOfJSONSpace.utf8)
        guard let first = bytes.first, [UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\"")].contains(first) else {
            return
        }
        for count in 0..<bytes.count { #expect(!isValid(Array(bytes.prefix(count)))) }
    }

    @Test(
        "Text that only resembles JSON is refused",
        arguments: [
            "", " ", "nul", "nulls", "True", "NaN", "Infinity", "undefined", "'a'", "01", "-01", "00", "-", "+1", ".5",
            "1.",
            "1.e5", "1e", "1e+", "0x10", "1_000", "1 2", "{}{}", "{},", "[1,]", "[,1]", "[1 2]", "[1,,2]", "[}", "{]}",
            "]", "}", #"{"a":1,}"#, #"{"a":}"#, #"{"a"}"#, #"{"a" 1}"#, #"{,"a":1}"#, #"{"a":1,,"b":2}"#,
            #"{"a":1 "b":2}"#,
            #"{a:1}"#, #"{'a':1}"#, #"{1:1}"#, #""\x""#, #""\u12""#, #""\u12g4""#, #""\"#, "\"a\tb\"", "\"a\nb\"",
            "\"a\u{0}b\"",
            "1 /*c*/", "[1] // c", "{}\u{0}", "{}\u{C}", "\u{FEFF}{}", "\u{A0}{}",
        ])
    func invalid(text: String) {
        #expect(!isValid(Array(text.utf8)))
    }

    @Test("Invalid UTF-8 is refused anywhere")
    func notUTF8() {
        let bad: [[UInt8]] = [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]]
        for bytes in bad {
            #expect(!isValid(Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)))
            #expect(!isValid(Array(#"{""#.utf8) + bytes + Array(#"":0}"#.utf8)))
        }
        let utf16 = "{}".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        #expect(!isValid(utf16))
        #expect(!isValid([0xFF, 0xFE] + utf16))
    }

    @Test("Nesting is accepted up to its limit without recursion")
    func nesting() {
        func nested(_ depth: Int) -> [UInt8] { Array((String(repeating: "[", count: depth) + "0").utf8) }
        func closed(_ depth: Int) -> [UInt8] { nested(depth) + Array(String(repeating: "]", count: depth).utf8) }
        #expect(isValid(closed(JSONSyntax.maximumDepth)))
        #expect(!isValid(closed(JSONSyntax.maximumDepth + 1)))
        #expect(!isValid(closed(1_000_000)))
    }
}

extension String {
    fileprivate var trimmedOfJSONSpace: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
