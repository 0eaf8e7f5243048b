import Features
import Testing

@testable import Settings

@Suite struct ConfigurationListenAddressTests {
    @Test(
        "An address is parsed and printed alike",
        arguments: [
            ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
            ("0.0.0.0:0", .tcp(host: "0.0.0.0", port: 0)),
            ("[::1]:65535", .tcp(host: "::1", port: 65535)),
            ("[fe80::1%eth0]:1", .tcp(host: "fe80::1%eth0", port: 1)),
            ("[::ffff:10.0.0.1]:1", .tcp(host: "::ffff:10.0.0.1", port: 1)),
            ("localhost:80", .tcp(host: "localhost", port: 80)),
            ("my-host.example.org:80", .tcp(host: "my-host.example.org", port: 80)),
            ("unix:/run/a b.sock", .unix(path: "/run/a b.sock")),
        ])
    func addressIsParsedAndPrintedAlike(_ text: String, _ address: ListenAddress) throws {
        #expect(try ListenAddress(parsing: text) == address)
        #expect(address.description == text)
    }

    @Test(
        "An invalid address is refused",
        arguments: [
            "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
            "127.0.0.1:8o", "127.0.0.1: 1", "127.1:80", "256.0.0.1:80", "::1:80", "[::1]", "[::1]80", "[::1:80",
            "[]:80",
            "[127.0.0.1]:80", "[::1%]:80", "ho st:80", "*:80", "http://localhost:80", "unix:", "unix:a", "unix:/",
            "127.0.0.1:٨",
        ])
    func invalidAddressIsRefused(_ text: String) {
        #expect(throws: InvalidValue.self) { try ListenAddress(parsing: text) }
    }

    @Test("A socket's path has at most 107 bytes") func socketsPathHasAtMost107Bytes() throws {
        let longest = "/" + String(repeating: "é", count: 53)
        #expect(try ListenAddress(parsing: "unix:\(longest)") == .unix(path: longest))
        #expect(throws: InvalidValue.self) { try ListenAddress(parsing: "unix:\(longest)x") }
    }
}
