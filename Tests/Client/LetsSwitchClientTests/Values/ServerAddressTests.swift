import Testing

@testable import LetsSwitchClient

@Suite struct ServerAddressTests {
    @Test(
        "A valid address is parsed",
        arguments: [
            ("127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1:8080"),
            ("localhost", "http://localhost", "localhost"),
            ("HTTP://Example.org:80/", "http://Example.org", "Example.org"),
            ("https://example.org", "https://example.org", "example.org"),
            ("wss://example.org:8443/a/b//", "https://example.org:8443/a/b", "example.org:8443"),
            ("ws://[::1]:8080", "http://[::1]:8080", "[::1]:8080"),
            ("https://[::1]", "https://[::1]", "[::1]"),
        ])
    func good(text: String, description: String, authority: String) throws {
        let address = try ServerAddress(text)
        #expect(address.description == description)
        #expect(address.authority == authority)
        #expect(try ServerAddress(address.description) == address)
    }

    @Test(
        "An invalid address is refused",
        arguments: [
            "", "http://", "ftp://a", "a:b", "a:0", "a:65536", "::1", "[::1", "http://a b", "http://u@a", "http://a?b",
            "http://a#b", "a\r\nb", "http://ä", ":80", "http:///a", "a%41",
        ])
    func bad(text: String) {
        #expect(throws: ClientError.invalidAddress(text)) { try ServerAddress(text) }
    }

    @Test("A query's value can contain any characters")
    func escaping() {
        #expect(escaped("a-Z_0.9~ &=?#/ü\r\n") == "a-Z_0.9~%20%26%3D%3F%23%2F%C3%BC%0D%0A")
    }
}
