import Testing

@testable import Wire

/// `If-None-Match` (RFC 9110 §13.1.2).
@Suite struct EntityTagTests {
    @Test(
        "A tag is found in a list by weak comparison",
        arguments: [
            (["\"a\""], true), (["W/\"a\""], true), (["\"b\" ,\t\"a\" "], true), (["\"b\"", "\"c\", W/\"a\""], true),
            (["*"], true), (["\"b\",*"], true), (["\"b\""], false), (["\"ab\""], false), (["a"], false), ([""], false),
            (["w/\"a\""], false), (["W/"], false), ([], false),
        ] as [([String], Bool)])
    func tags(_ lists: [String], _ isNamed: Bool) {
        #expect(names(lists) == isNamed)
    }

    @Test("Only the first 32 tags are read")
    func many() {
        let others = String(repeating: "\"b\",", count: 31)
        #expect(names([others + "\"a\""]) == true)
        #expect(names([others + "\"c\",\"a\""]) == false)
        #expect(names([others, "\"c\",\"a\""]) == false)
        #expect(names([String(repeating: ",", count: 32) + "\"a\""]) == false)
    }

    private func names(_ lists: [String]) -> Bool? {
        let fields = lists.map { "If-None-Match: \($0)\r\n" }.joined()
        let head = HTTPTranscript("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n").heads.first
        return head?.headers.names(entityTag: "\"a\"")
    }
}
