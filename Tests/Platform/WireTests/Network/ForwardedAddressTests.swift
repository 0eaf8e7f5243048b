import Testing

@testable import Wire

@Suite struct ForwardedAddressTests {
    private static let trusted: TrustedNetworks = {
        var networks = TrustedNetworks.thisMachine
        networks.insert("10.0.0.0/8")
        return networks
    }()

    private func head(_ fields: [String]) throws -> HTTPRequestHead {
        let text = "GET / HTTP/1.1\r\nHost: x\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
        return try #require(HTTPTranscript(text).heads.first)
    }

    @Test(
        "The client is the last address that isn't a trusted proxy",
        arguments: [
            (["X-Forwarded-For: 203.0.113.7"], "203.0.113.7"),
            (["X-Forwarded-For: 192.0.2.9, 203.0.113.7"], "203.0.113.7"),
            (["x-forwarded-for: 192.0.2.9,203.0.113.7 ,\t10.0.0.2"], "203.0.113.7"),
            (["X-Forwarded-For: 192.0.2.9", "X-Other: 1", "X-Forwarded-For: 10.0.0.2, 10.0.0.3"], "192.0.2.9"),
            (["X-Forwarded-For: 192.0.2.9, 203.0.113.7", "X-FORWARDED-FOR: 127.0.0.1"], "203.0.113.7"),
            // All addresses are proxies, so the outermost one is the client.
            (["X-Forwarded-For: 10.0.0.9, 10.0.0.2"], "10.0.0.9"),
            // Empty elements are ignored (RFC 9110 §5.6.1.2).
            (["X-Forwarded-For: ,203.0.113.7, ,", "X-Forwarded-For:"], "203.0.113.7"),
            // Addresses may have ports, and IPv6 addresses may have brackets.
            (["X-Forwarded-For: 203.0.113.7:4711"], "203.0.113.7"),
            (["X-Forwarded-For: 2001:db8::7"], "2001:db8::7"), (["X-Forwarded-For: [2001:db8::7]"], "2001:db8::7"),
            (["X-Forwarded-For: [2001:db8::7]:4711, ::1"], "2001:db8::7"),
            (["X-Forwarded-For: ::ffff:203.0.113.7"], "203.0.113.7"),
            // An unreadable entry ends the search; the entries before it aren't trusted.
            (["X-Forwarded-For: 203.0.113.7, unknown, 10.0.0.2"], "10.0.0.2"),
            (["X-Forwarded-For: 203.0.113.7, unknown"], nil), (["X-Forwarded-For: \"203.0.113.7\""], nil),
            (["X-Forwarded-For: 203.0.113.7:x"], nil), (["X-Forwarded-For: [203.0.113.7]"], nil),
            (["X-Forwarded-For: [2001:db8::7"], nil), (["X-Forwarded-For: [2001:db8::7]x"], nil),
            (["X-Forwarded-For:"], nil), (["X-Forwarded-For: ,,"], nil), (["Forwarded: for=203.0.113.7"], nil),
            ([], nil),
        ] as [([String], String?)])
    func reading(fields: [String], expected: String?) throws {
        #expect(try head(fields).forwardedAddress(through: Self.trusted) == expected.flatMap { IPAddress($0) })
    }

    @Test("Without other proxies, the last address is the client")
    func strict() throws {
        let head = try head(["X-Forwarded-For: 192.0.2.9, 10.0.0.2"])
        #expect(head.forwardedAddress(through: TrustedNetworks()) == IPAddress("10.0.0.2"))
    }
}
