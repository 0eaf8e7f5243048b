import Domain
import FoundationEssentials
import TestSupport
import Testing
import Wire

@testable import Access
@testable import Settings

/// The command `letsswitchd ticket`.
@Suite struct TicketCommandTests {
    private static let secret = "a secret of at least 32 bytes, or so"

    private func parse(_ arguments: [String], _ environment: [String: String] = ["LETSSWITCH_TICKET_SECRET": secret])
        throws -> CommandLineParser.Command
    {
        try CommandLineParser(environment: environment).parse(["ticket"] + arguments)
    }

    private func claims(_ arguments: [String]) throws -> TestJSON {
        guard case .ticket(let order, let settings) = try parse(arguments) else { throw UsageError("no ticket") }
        let parts = try order.token(settings, at: 1_000).split(separator: ".")
        return try TestJSON(parsing: try #require(Base64.decode(parts[1])))
    }

    @Test("A ticket is for the given time and topics, by default for an hour") func claims() throws {
        #expect(try claims(["ada"]) == ["sub": "ada", "exp": 4_600])
        #expect(try claims(["a \"d\" é", "--for", "90s"]) == ["sub": "a \"d\" é", "exp": 1_090])
        #expect(try claims(["-x", "--for=1.5s"]) == ["sub": "-x", "exp": 1_002])
        #expect(
            try claims(["ada", "--topics", "room:*,questions:X", "--log-level", "debug", "--topics=device:ada"])
                == ["sub": "ada", "exp": 4_600, "topics": ["room:*", "questions:X", "device:ada"]])
    }

    @Test(
        "Invalid arguments are reported",
        arguments: [
            ([String](), "ticket: a device is missing"), (["--for", "1h"], "ticket: a device is missing"),
            ([" "], "ticket: deviceId must not be blank"), (["ada", "--for"], "--for: a value is missing"),
            (["ada", "--for", "soon"], "--for: \"soon\""), (["ada", "--for", "0.5"], "--for: \"0.5\""),
            (["ada", "--topics", "--for"], "--topics: a value is missing"), (["ada", "bob"], "unexpected argument"),
            (["ada", "--forr", "1h"], "unknown flag --forr"),
            (["ada", "--topics=\(String(repeating: "a,", count: 101))"], "--topics: at most 100"),
        ] as [([String], String)])
    func errorMessages(arguments: [String], beginning: String) throws {
        let error = #expect(throws: UsageError.self) { try parse(arguments) }
        #expect(error?.description.hasPrefix(beginning) == true, "\(error?.description ?? "")")
    }

    @Test("Without a secret there are no tickets")
    func secrets() throws {
        let missing = #expect(throws: UsageError.self) { try parse(["ada"], [:]) }
        #expect(missing?.description == "ticket: --ticket-secret is missing")
        let required = #expect(throws: UsageError.self) {
            try CommandLineParser(environment: [:]).parse(["--require-tickets"])
        }
        #expect(required?.description == "--require-tickets: --ticket-secret is missing")
        #expect(throws: UsageError.self) { try CommandLineParser(environment: [:]).parse(["serve", "--for", "1h"]) }
    }

    @Test("A secret is a line of at least 32 bytes that no error repeats") func lines()
        throws
    {
        func secrets(_ text: String) throws -> Int {
            let command = try CommandLineParser(environment: ["LETSSWITCH_TICKET_SECRET": text]).parse([])
            guard case .serve(let configuration) = command else { return 0 }
            return configuration.tickets.secrets.count
        }
        let (first, second) = (String(repeating: "a", count: 32), String(repeating: "é", count: 16))
        #expect(try secrets(first) == 1)
        #expect(try secrets("\(first)\r\n\n  \(second) \n") == 2)
        #expect(try TicketSecret(first)?.bytes == Array(first.utf8) && secrets("\(first), \(first)") == 1)
        for wrong in [
            String(repeating: "a", count: 31), "\(first)\nshort", "\(first)\n\(second)\n\(first)",
            "\(first)\u{FFFD}", "\(first)\u{7}", "\n", String(repeating: "a", count: 1_025),
        ] {
            let error = #expect(throws: UsageError.self) { try secrets(wrong) }
            #expect(error?.description.contains("aaaa") == false)
        }
    }
}
