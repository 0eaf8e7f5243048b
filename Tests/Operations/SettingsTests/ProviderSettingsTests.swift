import Testing

@testable import Notifications
@testable import Settings

/// The providers' settings.
@Suite struct ProviderSettingsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func configure(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Configuration {
        guard case .serve(let configuration) = try CommandLineParser(environment: environment).parse(arguments) else {
            throw UsageError("not serve")
        }
        return configuration
    }

    @Test("Without settings there are no providers")
    func none() throws {
        #expect(try configure([]).providers == ProviderSettings())
        #expect(try configure([]).providers.names.isEmpty)
    }

    @Test("A webhook has a URL and secrets from flags or variables")
    func webhook() throws {
        let flags = try configure(["--webhook-url", "https://example.org/hook", "--webhook-secret", Self.secret])
        let variables = try configure(
            [], ["LETSSWITCH_WEBHOOK_URL": "https://example.org/hook", "LETSSWITCH_WEBHOOK_SECRET": Self.secret])
        #expect(flags.providers == variables.providers)
        #expect(flags.providers.webhook.secrets.count == 1)
        #expect(flags.providers.names == [.webhook])
        let two = try configure([
            "--webhook-url", "https://example.org/hook", "--webhook-secret", "\(Self.secret), \(Self.secret)",
        ])
        #expect(two.providers.webhook.secrets.count == 2)
    }

    @Test("Descriptors are reserved for the providers' connections")
    func descriptors() throws {
        let none = try configure([])
        let webPush = try configure(["--web-push-contact", "mailto:ops@example.org"])
        let both = try configure(["--web-push-contact", "mailto:ops@example.org", "--ntfy-server", "https://ntfy.sh"])
        #expect(webPush.reservedDescriptors - none.reservedDescriptors == 256)
        #expect(both.reservedDescriptors - webPush.reservedDescriptors == 16)
    }

    @Test("Addresses lose their final slash")
    func addresses() throws {
        let providers = try configure(["--ntfy-server", "https://ntfy.sh/x/", "--public-url", "https://example.org/"])
            .providers
        #expect(providers.ntfy.server == "https://ntfy.sh/x")
        #expect(providers.publicURL == "https://example.org")
        for url in ["http://example.org:8080", "https://192.0.2.1", "http://[2001:db8::7]:81"] {
            #expect(try configure(["--public-url", url]).providers.publicURL == url)
        }
    }

    @Test(
        "A public URL with a path is refused, and the message says what is allowed",
        arguments: [
            "https://example.org/base", "https://example.org/base/", "https://example.org/a/b",
            "https://example.org//b",
            "http://[::1]:8080/base",
        ])
    func publicPath(_ url: String) {
        let error = #expect(throws: UsageError.self) { try configure(["--public-url", url]) }
        #expect(
            error?.description == """
                --public-url: "\(url)": must have no path, because pages and sockets are at the root of a host name; \
                give the server a host name or a port of its own, like https://switch.example.org
                """)
    }

    @Test(
        "An invalid setting is refused, and no secret is repeated",
        arguments: [
            ["--webhook-url", "example.org"], ["--webhook-url", "https://a:b@example.org/"],
            ["--webhook-url", "https://example.org/"], ["--webhook-secret", secret],
            ["--webhook-url", "https://example.org/", "--webhook-secret", "whsec_c2VjcmV0"],
            ["--webhook-url", "https://example.org/", "--webhook-secret-file", "/nonexistent"],
            ["--ntfy-server", "https://ntfy.sh/?a"], ["--ntfy-token", "tk_x"], ["--ntfy-server", "ntfy.sh"],
            ["--ntfy-server", "https://ntfy.sh", "--ntfy-token", "a b"],
            ["--public-url", "https://*.example.org"], ["--public-url", "https://*"],
            ["--public-url", "https://example.org/?a"], ["--public-url", "https://example.org/#a"],
        ])
    func refused(_ arguments: [String]) {
        let error = #expect(throws: UsageError.self) { try configure(arguments) }
        #expect(!"\(error.map { "\($0)" } ?? "")".contains("c2VjcmV0"))
    }

    @Test(
        "A URL is parsed as browsers do",
        arguments: [
            ("https://Example.org/a?b#c", "https://example.org"), ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://[::1]:443/x", "https://[::1]"), ("http://a.example:80?x", "http://a.example"),
        ])
    func urls(_ text: String, _ origin: String) {
        #expect(ProviderURL(text)?.origin == origin)
    }

    @Test(
        "An invalid URL is refused",
        arguments: [
            "", "https://", "https://:80", "ftp://a", "https://a:0", "https://a:65536", "https://a:b", "https://[::1",
            "https://[]", "//a", "https:/a", "https://a b", "https://ä", "https://a\n",
        ])
    func noURLs(_ text: String) {
        #expect(ProviderURL(text) == nil)
    }
}
