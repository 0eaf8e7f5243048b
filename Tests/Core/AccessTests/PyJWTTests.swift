import Crypto
import Domain
import Foundation
import TestSupport
import Testing
import Wire

@testable import Access

/// Tickets made by an independent library, PyJWT, and the server's own tickets read by PyJWT.
@Suite struct PyJWTTests {
    private static let secret = "a secret of at least 32 bytes, or so"
    private static let other = "another secret of at least 32 bytes!"

    private static let maker = """
        import json, sys, jwt
        asked = json.loads(sys.stdin.readline())
        made = []
        for ticket in asked["tickets"]:
            made.append(jwt.encode(ticket["claims"], ticket["key"] or None, algorithm=ticket["algorithm"]))
        read = jwt.decode(asked["ours"], asked["key"], algorithms=["HS256"])
        print(json.dumps({"made": made, "read": read}), flush=True)
        """

    private static func asked(_ claims: TestJSON, key: String = secret, algorithm: String = "HS256") -> TestJSON {
        ["claims": claims, "key": .string(key), "algorithm": .string(algorithm)]
    }

    @Test(
        "The server accepts PyJWT's tickets, and PyJWT accepts the server's",
        .enabled(if: PythonPackages.ofTests.areInstalled, Comment(rawValue: PythonPackages.ofTests.hint)))
    func tickets() async throws {
        var settings = TicketSettings()
        settings.secrets = try [Self.secret, "a newer secret of 32 bytes or more"].map {
            try #require(TicketSecret($0))
        }
        // PyJWT uses its own clock, so the tickets expire in two thousand years.
        let now = 60_000_000_000.0
        let verifier = try IdentityVerifier(settings) { now }
        let order = TicketOrder(
            device: DeviceID(stored: "adá"), lifetime: .seconds(3_600), topics: [TopicPattern("questions:*")])
        let session = UUID()
        let answer = try await PythonPackages.ofTests.run(
            Self.maker,
            [
                "tickets": [
                    Self.asked(["sub": "ada", "exp": 60_000_000_001]),
                    Self.asked(["sub": "ada", "exp": 60_000_000_000]),
                    Self.asked(["sub": "ada", "exp": 60_000_000_001], key: Self.other),
                    Self.asked(["sub": "ada", "exp": 60_000_000_001], key: "", algorithm: "none"),
                    Self.asked(["sub": "ada", "exp": 60_000_000_001], algorithm: "HS512"),
                    Self.asked(["sub": "ada"]),
                    Self.asked(["sub": "ada", "exp": 60_000_000_001, "nbf": 60_000_000_001]),
                    Self.asked(["sub": "ada", "exp": 60_000_000_001, "topics": [.string("questions:\(session)")]]),
                ],
                "ours": .string(try order.token(settings, at: Int64(now))), "key": .string(Self.secret),
            ])
        let tokens = try #require(answer["made"].array).map { $0.string ?? "" }
        var outcomes: [Result<Identity, IdentityRefusal>] = []
        for token in tokens {
            do throws(IdentityRefusal) {
                outcomes.append(.success(try verifier.identity(token: token)))
            } catch {
                outcomes.append(.failure(error))
            }
        }
        let ada = DeviceID(stored: "ada")
        let good = Identity.ticket(Ticket(device: ada, expiry: 60_000_000_001))
        #expect(
            outcomes.prefix(7) == [
                .success(good), .failure(.badTicket(.expired)), .failure(.badTicket(.signature)),
                .failure(.badTicket(.algorithm)), .failure(.badTicket(.algorithm)), .failure(.badTicket(.noExpiry)),
                .failure(.badTicket(.early)),
            ])
        let confined = try #require(outcomes.last).get()
        #expect(confined.device == ada)
        #expect(confined.allows(.questions(session)) && !confined.allows(.room(session)))
        #expect(
            answer["read"] == ["sub": "adá", "exp": 60_000_003_600, "topics": ["questions:*"]])
    }
}
