import Testing

@testable import Wire

@Suite struct PercentEncodingTests {
    private static func with<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Array(text.utf8).withUnsafeBytes(body)
    }

    @Test(
        "An escape has two hexadecimal digits",
        arguments: [
            ("plain", nil), ("%41%c3%A9", nil), ("%", .badEscape), ("a%4", .badEscape), ("%4g", .badEscape),
            ("a%00", .escapedNUL), ("%ff", .targetNotUTF8), ("%c3", .targetNotUTF8), ("%c3a", .targetNotUTF8),
        ] as [(String, HTTPParseError?)])
    func faults(text: String, fault: HTTPParseError?) {
        #expect(Self.with(text) { PercentEncoding.fault(in: $0) } == fault)
    }

    @Test("Escapes are decoded, and plus is a space in a form")
    func decoding() {
        #expect(Self.with("a%20b+%c3%a9") { PercentEncoding.decode($0) } == "a b+é")
        #expect(Self.with("a%20b+%2B") { PercentEncoding.decode($0, plusIsSpace: true) } == "a b +")
        #expect(Self.with("a+b") { PercentEncoding.isPlain($0) })
        #expect(!Self.with("a+b") { PercentEncoding.isPlain($0, plusIsSpace: true) })
    }

    @Test("An escaped text equals its decoded text, except for a slash")
    func comparison() {
        func equals(_ bytes: String, _ text: String) -> Bool {
            Self.with(bytes) { bytes in Self.with(text) { PercentEncoding.equals(bytes, $0) } }
        }
        #expect(equals("/%74asks", "/tasks") && equals("", ""))
        #expect(!equals("/tasks", "/task") && !equals("/task", "/tasks") && !equals("/a%2Fb", "/a/b"))
    }
}
