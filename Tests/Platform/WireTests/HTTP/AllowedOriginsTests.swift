import Testing

@testable import Wire

@Suite struct AllowedOriginsTests {
    private func head(origin: [String], host: String = "example.org") throws -> HTTPRequestHead {
        let fields = origin.map { "Origin: \($0)\r\n" }.joined()
        let text = "GET /socket HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n"
        return try #require(HTTPTranscript(text).heads.first)
    }

    private func origins(_ texts: String...) -> AllowedOrigins {
        var origins = AllowedOrigins()
        for text in texts {
            let isTaken = origins.insert(text)
            #expect(isTaken)
        }
        return origins
    }

    @Test(
        "An origin has the format that browsers write",
        arguments: [
            ("https://example.org", "https://example.org"), ("HTTPS://Example.ORG:443", "https://example.org"),
            ("http://example.org:80", "http://example.org"), ("http://example.org:443", "http://example.org:443"),
            ("http://[::1]:8080", "http://[::1]:8080"), ("capacitor://localhost", "capacitor://localhost"),
        ])
    func reading(text: String, written: String) {
        #expect(HTTPOrigin(text)?.text == written)
    }

    @Test(
        "An invalid origin is refused",
        arguments: [
            "", "null", "example.org", "https://", "https://example.org/", "https://example.org/path", "https://a b",
            "https://user@example.org", "https://example.org:", "https://example.org:99999", "://example.org", "1a://x",
            "https:example.org", "https://*.example.org/", "https://example.org?x", "*.example.org",
            "https://" + String(repeating: "x", count: 600),
            // Swift lowercases a Kelvin sign to a k.
            "https://\u{212A}.example", "https://caf\u{E9}.example",
        ])
    func notReading(text: String) {
        #expect(HTTPOrigin(text) == nil)
        var origins = AllowedOrigins()
        let isTaken = origins.insert(text)
        #expect(!isTaken)
    }

    @Test(
        "An asterisk that isn't the whole first label of a name is refused",
        arguments: [
            "https://*", "https://*:8443", "https://**.example.org", "https://*a.example.org", "https://a*.example.org",
            "https://a.*.example.org", "https://*.*.example.org", "https://*..example.org", "https://*.0.0.1",
            "https://*.",
        ])
    func badWildcards(text: String) {
        var origins = AllowedOrigins()
        let isTaken = origins.insert(text)
        #expect(!isTaken && origins == AllowedOrigins())
    }

    @Test(
        "An asterisk at the beginning of a listed host matches exactly one label",
        arguments: [
            ("https://a.example.org", true), ("https://A.EXAMPLE.org:443", true), ("https://example.org", false),
            ("https://a.b.example.org", false), ("https://.example.org", false), ("https://aexample.org", false),
            ("http://a.example.org", false), ("https://a.example.org:8443", false),
            ("https://a.example.org.evil.example", false), ("https://127.0.0.1", false), ("null", false),
            ("http://b.local.example:3000", true), ("http://b.local.example", false),
        ])
    func wildcards(origin: String, isAdmitted: Bool) throws {
        let list = origins("https://*.Example.org", "http://*.local.example:3000")
        #expect(try list.admit(head(origin: [origin], host: "server.example")) == isAdmitted)
        let shared = isAdmitted ? HTTPOrigin(origin)?.text : nil
        #expect(try list.sharing(head(origin: [origin], host: "server.example")) == shared)
        #expect(list.areSeveral)
    }

    @Test(
        "The server's own pages and programs may open a WebSocket",
        arguments: [
            ([], "example.org", true), (["https://example.org"], "example.org", true),
            (["http://example.org"], "example.org", true), (["https://EXAMPLE.org"], "Example.Org", true),
            (["https://example.org"], "example.org:443", true), (["http://example.org"], "example.org:80", true),
            (["http://example.org:8080"], "example.org:8080", true), (["http://[::1]:80"], "[::1]", true),
            (["https://example.org"], "example.org:80", false), (["http://example.org"], "example.org:443", false),
            (["http://example.org"], "example.org:8080", false), (["http://example.org:8080"], "example.org", false),
            (["https://other.example"], "example.org", false), (["https://sub.example.org"], "example.org", false),
            (["https://example.org.evil.example"], "example.org", false), (["null"], "example.org", false),
            ([""], "example.org", false), (["https://example.org", "https://example.org"], "example.org", false),
            (["https://example.org, https://example.org"], "example.org", false),
        ])
    func sameOrigin(origin: [String], host: String, isAdmitted: Bool) throws {
        #expect(AllowedOrigins().admit(try head(origin: origin, host: host)) == isAdmitted)
    }

    @Test(
        "Without Origin the browser's fetch metadata counts",
        arguments: [
            ([], [], true), ([], ["same-origin"], true), ([], ["Same-Origin"], true), ([], ["none"], true),
            ([], ["same-site"], false), ([], ["cross-site"], false), ([], [""], false), ([], ["unheard-of"], false),
            ([], ["same-origin", "cross-site"], false), (["null"], ["same-origin"], true), (["null"], ["none"], false),
            (["null"], ["cross-site"], false), (["null"], [], false), (["https://example.org"], ["cross-site"], true),
            (["https://evil.example"], ["same-origin"], false),
        ])
    func fetchMetadata(origin: [String], site: [String], isAdmitted: Bool) throws {
        let fields =
            origin.map { "Origin: \($0)\r\n" }.joined() + site.map { "Sec-Fetch-Site: \($0)\r\n" }.joined()
        let text = "POST /task HTTP/1.1\r\nHost: example.org\r\n\(fields)\r\n"
        let head = try #require(HTTPTranscript(text).heads.first)
        #expect(AllowedOrigins().admit(head) == isAdmitted)
        #expect(origins("*").admit(head))
    }

    @Test("A listed page may open a WebSocket")
    func listed() throws {
        let list = origins("https://app.example", "http://localhost:3000")
        for (origin, isAdmitted) in [
            ("https://app.example", true), ("HTTPS://APP.example:443", true), ("http://localhost:3000", true),
            ("http://app.example", false), ("https://app.example:8443", false), ("https://example.org", true),
            ("null", false),
        ] {
            #expect(try list.admit(head(origin: [origin])) == isAdmitted, "\(origin)")
            #expect(try origins("*").admit(head(origin: [origin])))
        }
        #expect(try list.admit(head(origin: [])))
    }

    @Test("Responses are shared with listed pages by name, or with every page")
    func sharing() throws {
        let list = origins("https://app.example")
        #expect(try list.sharing(head(origin: ["https://app.example"])) == "https://app.example")
        #expect(try list.sharing(head(origin: ["https://other.example"])) == nil)
        #expect(try list.sharing(head(origin: ["https://example.org"])) == nil)
        #expect(try list.sharing(head(origin: [])) == nil)
        #expect(try origins("*").sharing(head(origin: ["https://other.example"])) == "*")
        #expect(try AllowedOrigins().sharing(head(origin: ["https://example.org"])) == nil)
        #expect(list.sharing(origin: "https://app.example") == "https://app.example")
        #expect(list.sharing(origin: "https://other.example") == nil && list.sharing(origin: nil) == nil)
        #expect(list.areSeveral)
        #expect(
            !origins("*").areSeveral && !origins("https://app.example", "*").areSeveral && !AllowedOrigins().areSeveral)
    }
}
