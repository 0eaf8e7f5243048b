import Settings
import Testing

@testable import LetsSwitch

/// What the log line `started` names as missing for reminders to reach people.
@Suite struct StartSummaryTests {
    private func missing(_ arguments: String..., isDatabaseReady: Bool = true) throws -> [String] {
        guard case .serve(let configuration) = try CommandLineParser(environment: [:]).parse(arguments) else {
            return ["another command"]
        }
        return StartSummary(
            configuration, endpoints: [], database: "private cluster", isDatabaseReady: isDatabaseReady
        ).missing
    }

    @Test("Nothing is missing with a provider and an https address")
    func complete() throws {
        #expect(
            try missing(
                "--listen", "0.0.0.0:80", "--public-url", "https://example.org", "--web-push-contact",
                "mailto:ops@example.org"
            ).isEmpty)
    }

    @Test("Without a provider the flags of the providers are named")
    func noProvider() throws {
        let missing = try missing("--public-url", "https://example.org")
        #expect(missing.count == 1)
        for flag in ["--web-push-contact", "--ntfy-server", "--apns-key", "--webhook-url"] {
            #expect(missing.first?.contains(flag) == true)
        }
    }

    @Test("A missing --public-url is reported only if it is needed")
    func noPublicURL() throws {
        #expect(try missing().contains { $0.hasPrefix("--public-url") } == false)
        let open = try missing("--listen", "0.0.0.0:80", "--ntfy-server", "https://ntfy.sh")
        #expect(open.count == 1 && open.first?.contains("name are refused") == true)
        let named = try missing("--listen", "0.0.0.0:80", "--ntfy-server", "https://ntfy.sh", "--hosts", "example.org")
        #expect(named == ["--public-url, because links in messages have no address"])
        #expect(try missing("--ntfy-server", "https://ntfy.sh") == named)
    }

    @Test("Web Push needs https, except on this machine")
    func plainWebPush() throws {
        func missing(_ url: String) throws -> [String] {
            try self.missing("--web-push-contact", "mailto:ops@example.org", "--public-url", url)
        }
        #expect(try missing("http://example.org").first?.hasPrefix("https in --public-url") == true)
        for url in ["http://localhost:8080", "http://127.0.0.1:8080", "https://example.org"] {
            #expect(try missing(url).isEmpty)
        }
    }

    @Test("A database that isn't ready is named")
    func noDatabase() throws {
        let missing = try missing(
            "--ntfy-server", "https://ntfy.sh", "--public-url", "https://example.org", isDatabaseReady: false)
        #expect(missing == ["the database isn't ready yet, so no reminder is sent"])
    }
}
