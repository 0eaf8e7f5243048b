import Testing

@testable import Wire

@Suite struct HTTPRequestHeadTests {
    @Test(
        "The path is split, then decoded",
        arguments: [
            ("/", []), ("/task", ["task"]), ("/task/", ["task", ""]), ("//", ["", ""]), ("/a/b%2Fc", ["a", "b/c"]),
            ("/%74ask", ["task"]), ("/a%20b/%C3%A4", ["a b", "ä"]), ("/a/../b", ["a", "..", "b"]), ("/a+b", ["a+b"]),
            ("/a?b/c", ["a"]), ("http://h", []), ("http://h?a", []), ("http://h/x", ["x"]),
        ])
    func pathIsSplitThenDecoded(_ target: String, _ segments: [String]) {
        #expect(head("GET \(target) HTTP/1.1")?.pathSegments(atMost: 3) == segments)
    }

    @Test("A path with more segments than the limit isn't split", arguments: ["/a/b/c", "/a/b/", "///", "/a%2Fb//c"])
    func pathWithMoreSegmentsThanLimitIsNotSplit(_ target: String) throws {
        let request = try #require(head("GET \(target) HTTP/1.1"))
        #expect(request.pathSegments(atMost: 2) == nil)
        #expect(request.pathSegments(atMost: 3)?.count == 3)
    }

    @Test(
        "A path is compared after decoding",
        arguments: [
            ("/task", "/task", true), ("/task", "/tas", false), ("/task", "/task/", false), ("/task?a", "/task", true),
            ("/%74as%6B", "/task", true), ("/a%2Fb", "/a/b", false), ("/a%20b", "/a b", true),
            ("/a%20b", "/a%20b", false), ("/Task", "/task", false), ("/", "/", true), ("http://h", "/", true),
            ("http://h/task", "/task", true), ("/%C3%A4", "/ä", true), ("/task", "", false),
        ])
    func aPathIsComparedDecoded(_ target: String, _ path: String, _ isEqual: Bool) {
        #expect(head("GET \(target) HTTP/1.1")?.path(equals: Array(path.utf8)) == isEqual)
    }

    @Test("A path is compared with a literal")
    func pathIsComparedWithLiteral() {
        #expect(head("GET /task?x HTTP/1.1")?.path(equals: "/task") == true)
        #expect(head("GET /tasks HTTP/1.1")?.path(equals: "/task") == false)
        #expect(head("OPTIONS * HTTP/1.1")?.path(equals: "*") == false)
    }

    @Test("The raw path is available for logs")
    func theRawPathIsForLogs() {
        #expect(head("GET /a%20b?c HTTP/1.1")?.rawPath == "/a%20b")
        #expect(head("GET http://h HTTP/1.1")?.rawPath == "/")
        #expect(head("OPTIONS * HTTP/1.1")?.rawPath == "")
        #expect(head("OPTIONS * HTTP/1.1")?.targetForm == .asterisk)
        #expect(head("CONNECT h:443 HTTP/1.1")?.targetForm == .authority)
    }

    @Test("The query is parsed as a form")
    func theQueryIsReadAsAForms() {
        let items = head("GET /?a=1&b=x+y%2B&&c&=d&a=2&e=f=g&%C3%A4=%26 HTTP/1.1")?.queryItems ?? []
        let expected = [
            ("a", "1"), ("b", "x y+"), ("c", ""), ("", "d"), ("a", "2"), ("e", "f=g"), ("ä", "&"),
        ]
        #expect(items.map(\.name) == expected.map(\.0))
        #expect(items.map(\.value) == expected.map(\.1))
    }

    @Test("A query value is the first of its name")
    func queryValueIsFirstOfItsName() {
        let request = head("GET /?deviceId=a%20b&id=1&id=2&time+Zone=Europe/London&na%6De=z&s%2Ft=u HTTP/1.1")
        #expect(request?.query("deviceId") == "a b")
        #expect(request?.query("id") == "1")
        #expect(request?.query("time Zone") == "Europe/London")
        #expect(request?.query("name") == "z")
        #expect(request?.query("s/t") == "u")
        #expect(request?.query("nam") == nil)
        #expect(request?.query("") == nil)
        #expect(head("GET / HTTP/1.1")?.query("a") == nil)
        #expect(head("GET /? HTTP/1.1")?.queryItems.isEmpty == true)
    }

    @Test("Field names ignore case")
    func fieldsAreFoundInEitherCase() {
        let headers = head("GET / HTTP/1.1", "X-One: 1", "x-one:2", "Empty:", "Last: \t a b \t")?.headers
        #expect(headers?.value("x-ONE") == "1")
        #expect(headers?.values("X-One") == ["1", "2"])
        #expect(headers?.value("empty") == "")
        #expect(headers?.value("last") == "a b")
        #expect(headers?.value("X-On") == nil)
        #expect(headers?.contains("Host") == true)
        #expect(headers?.contains("Hos") == false)
        #expect(headers?.map(\.name) == ["Host", "X-One", "x-one", "Empty", "Last"])
    }

    @Test("Tokens are found in lists")
    func tokensAreFoundInLists() {
        let headers = head("GET / HTTP/1.1", "Connection: keep-alive ,, Upgrade", "connection: TE", "A: xUpgrade")?
            .headers
        #expect(headers?.contains("Connection", token: "upgrade") == true)
        #expect(headers?.contains("Connection", token: "te") == true)
        #expect(headers?.contains("Connection", token: "keep") == false)
        #expect(headers?.contains("A", token: "upgrade") == false)
    }

    @Test(
        "Valid hosts are accepted",
        arguments: [
            ("a", "a"), ("a.example:8080", "a.example:8080"), ("127.0.0.1:", "127.0.0.1:"), ("[::1]:80", "[::1]:80"),
            ("[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"), ("a_b~c", "a_b~c"), ("%61", "%61"), ("a:65535", "a:65535"),
        ])
    func hostsThatAreValidAreTaken(_ host: String, _ expected: String) {
        #expect(HTTPTranscript("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").heads.first?.host == expected)
    }

    @Test("An absolute target's host replaces the field's")
    func absoluteTargetsHostReplacesFields() {
        #expect(head("GET http://other:81/a HTTP/1.1")?.host == "other:81")
        #expect(head("GET HTTPS://other/a HTTP/1.1")?.host == "other")
        #expect(HTTPTranscript("GET / HTTP/1.0\r\n\r\n").heads.first?.host == .some(nil))
    }

    @Test("The byte sets match the grammar")
    func byteSetsMatchGrammar() {
        let alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let token = Set((alphanumerics + "!#$%&'*+-.^_`|~").utf8)
        let name = Set((alphanumerics + "-._~!$&'()*+,;=").utf8)
        let base64 = Set((alphanumerics + "+/").utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(ByteSet.token.contains(byte) == token.contains(byte))
            #expect(ByteSet.registeredName.contains(byte) == name.contains(byte))
            #expect(ByteSet.base64.contains(byte) == base64.contains(byte))
            #expect(ByteSet.target.contains(byte) == ((0x21...0x7E).contains(byte) && byte != 0x23))
            #expect(ByteSet.isFieldValue(byte) == (byte == 9 || (byte >= 32 && byte != 127)))
        }
    }
}
