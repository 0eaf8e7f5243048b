import Testing

@testable import Wire

@Suite struct AllowedHostsTests {
    private func head(_ host: String?, target: String = "/", version: String = "1.1") throws -> HTTPRequestHead {
        let field = host.map { "Host: \($0)\r\n" } ?? ""
        return try #require(HTTPTranscript("GET \(target) HTTP/\(version)\r\n\(field)\r\n").heads.first)
    }

    private func hosts(_ texts: String...) -> AllowedHosts {
        var hosts = AllowedHosts()
        for text in texts {
            let isTaken = hosts.insert(text)
            #expect(isTaken)
        }
        return hosts
    }

    @Test(
        "A listed name or any address is accepted",
        arguments: [
            ("example.org", true), ("EXAMPLE.org", true), ("example.org:8080", true), ("example.org:", true),
            ("example.org.", true), ("example.org.:80", true), ("localhost", true), ("127.0.0.1", true),
            ("127.0.0.1:8080", true), ("[::1]", true), ("[2001:db8::7]:443", true), ("0.0.0.0", true),
            ("evil.example", false), ("example.org.evil.example", false), ("sub.example.org", false),
            ("xample.org", false), ("example.or", false), ("example.org..", false), (".", false),
            ("127.0.0.1.evil.example", false), ("1.evil", false), ("127.0.0.1.", true),
            ("localhost.evil.example", false),
            ("example%2Eorg", false), ("evil.example:80", false),
        ])
    func names(host: String, isServed: Bool) throws {
        #expect(try hosts("Example.ORG", "localhost").admit(head(host)) == isServed)
        #expect(try AllowedHosts.all.admit(head(host)))
        #expect(try hosts("example.org", "*").admit(head(host)))
    }

    @Test(
        "An asterisk at the beginning of a name matches exactly one label",
        arguments: [
            ("a.example.org", true), ("A.EXAMPLE.org", true), ("a.example.org:8080", true), ("a.example.org.", true),
            ("a-b_c.example.org", true), ("*.example.org", true), ("example.org", false), (".example.org", false),
            ("a.b.example.org", false), ("a..example.org", false), ("aexample.org", false), ("a.example.org..", false),
            ("a.example.org.evil.example", false), ("evil.example", false), ("[::1]", true), ("192.0.2.1", true),
        ])
    func wildcards(host: String, isServed: Bool) throws {
        #expect(try hosts("*.Example.ORG").admit(head(host)) == isServed)
        #expect(try hosts("*.example.org.").admit(head(host)) == isServed)
        #expect(hosts("*.Example.org", "b.example").description == "*.example.org, b.example")
    }

    @Test("The host of an absolute target overrides Host")
    func targets() throws {
        let hosts = hosts("example.org")
        #expect(try !hosts.admit(head("example.org", target: "http://evil.example/")))
        #expect(try hosts.admit(head("evil.example", target: "http://example.org/")))
        #expect(try hosts.admit(head(nil, version: "1.0")))
        #expect(try !hosts.admit(head("evil.example", version: "1.0")))
    }

    @Test(
        "An invalid name is refused",
        arguments: [
            "", "a b", "example.org:80", "https://example.org", "example.org/", "[::1]", ".", "a@b", "ä.example",
            "*.", "**.example.org", "*a.example.org", "a*.example.org", "a.*.example.org", "*.*.example.org",
            "example.*", "*.0.0.1", "**", ".example.org", "a..example.org", "example.org..",
            String(repeating: "x", count: 256),
        ])
    func notTaken(text: String) {
        var hosts = AllowedHosts()
        let isTaken = hosts.insert(text)
        #expect(!isTaken && hosts == AllowedHosts())
    }
}
