import Crypto
import Domain
import FoundationEssentials
import Server
import Testing
import Wire

@testable import Access

@Suite struct IdentityVerifierTests {
    private static let secret = "a secret of at least 32 bytes, or so"
    private static let now = 1_000.0

    private func verifier(_ secrets: [String] = [Self.secret], required: Bool = false) throws -> IdentityVerifier {
        var settings = TicketSettings()
        settings.secrets = try secrets.map { try #require(TicketSecret($0)) }
        settings.areRequired = required
        return try IdentityVerifier(settings) { Self.now }
    }

    private func ticket(_ claims: String, secret: String = Self.secret) throws -> String {
        try SharedTokens(secrets: [Array(secret.utf8)]).sign(claims: Array(claims.utf8)).text
    }

    private func head(_ query: String, _ fields: [String] = []) throws -> HTTPRequestHead {
        let lines = ["GET /cable\(query) HTTP/1.1", "Host: example.org"] + fields
        var parser = HTTPRequestParser()
        let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        let event = try bytes.withUnsafeBytes { bytes in
            var input = bytes
            return try parser.next(&input)
        }
        guard case .head(let head) = event else { throw RequestError.invalid("head", "is none") }
        return head
    }

    /// Returns the device, or the reason of the refusal.
    private func outcome(
        _ verifier: IdentityVerifier, _ query: String, _ fields: [String] = [], bearer: Bool = true
    ) throws -> Result<Identity, IdentityRefusal> {
        let head = try head(query, fields)
        do throws(IdentityRefusal) {
            return .success(try verifier.identity(of: head, bearer: bearer))
        } catch {
            return .failure(error)
        }
    }

    private let ada = DeviceID(stored: "ada")

    @Test("A request is identified by its deviceId or by a token") func plain() throws {
        let plain = try verifier([])
        #expect(try outcome(plain, "") == .success(.none))
        #expect(try outcome(plain, "?deviceId=ada") == .success(.device(ada)))
        #expect(try outcome(plain, "?token=ada") == .success(.device(ada)))
        #expect(try outcome(plain, "", ["Authorization: Bearer ada"]) == .success(.device(ada)))
        #expect(try outcome(verifier(), "?deviceId=ada") == .success(.device(ada)))
        for query in ["?deviceId=", "?token=%20", "?deviceId=\(String(repeating: "x", count: 129))"] {
            guard case .failure(.invalid(let error)) = try outcome(plain, query) else {
                Issue.record("\(query) is taken")
                continue
            }
            #expect(error.status == 400 && error.code == "invalid_request")
        }
    }

    @Test("A ticket is read from the query or from Authorization, with its expiry") func ticket() throws {
        let token = try ticket(#"{"sub":"ada","exp":1001.5}"#)
        let identity = Identity.ticket(Ticket(device: ada, expiry: 1_001.5))
        #expect(identity.device == ada && identity.expiry == 1_001.5)
        #expect(try outcome(verifier(), "?token=\(token)") == .success(identity))
        for scheme in ["Bearer", "bearer", "BEARER "] {
            #expect(try outcome(verifier(), "", ["Authorization: \(scheme) \(token)"]) == .success(identity))
        }
        #expect(try outcome(verifier(required: true), "?token=\(token)") == .success(identity))
        // Both secrets are valid while one replaces the other.
        let newer = "a newer secret of at least 32 bytes!"
        #expect(try outcome(verifier([newer, Self.secret]), "?token=\(token)") == .success(identity))
        #expect(try outcome(verifier([newer]), "?token=\(token)") == .failure(.badTicket(.signature)))
    }

    @Test("A key in Authorization is a ticket only if the route allows it") func otherKeys()
        throws
    {
        let fields = ["Authorization: Bearer a-presenters-key"]
        #expect(try outcome(verifier(), "?deviceId=ada", fields, bearer: false) == .success(.device(ada)))
        #expect(try outcome(verifier(), "", fields) == .failure(.badTicket(.malformed)))
        #expect(try outcome(verifier(), "", ["Authorization: Basic YTpi"]) == .success(.none))
        let token = try ticket(#"{"sub":"ada","exp":2000}"#)
        #expect(try outcome(verifier(), "?token=\(token)", fields, bearer: false).get().device == ada)
        guard case .failure(.invalid) = try outcome(verifier(), "?token=\(token)", fields) else {
            Issue.record("two tickets are taken")
            return
        }
    }

    @Test("A server that requires tickets refuses a plain deviceId") func required()
        throws
    {
        let strict = try verifier(required: true)
        #expect(try outcome(strict, "?deviceId=ada") == .failure(.ticketRequired))
        #expect(try outcome(strict, "") == .success(.none))
        #expect(throws: IdentityRefusal.ticketRequired) { try strict.identity(.none, naming: ada) }
        let token = try ticket(#"{"sub":"ada","exp":2000}"#)
        #expect(try outcome(strict, "?deviceId=ada&token=\(token)").get().device == ada)
    }

    @Test("A ticket for one device is refused with another deviceId") func otherDevice() throws {
        let token = try ticket(#"{"sub":"ada","exp":2000}"#)
        #expect(try outcome(verifier(), "?deviceId=bob&token=\(token)") == .failure(.otherDevice))
        let identity = try outcome(verifier(), "?token=\(token)").get()
        #expect(try verifier().identity(identity, naming: ada) == identity)
        #expect(throws: IdentityRefusal.otherDevice) {
            try verifier().identity(identity, naming: DeviceID(stored: "bob"))
        }
        // An `é` in one scalar differs from one in two scalars.
        let accented = try outcome(verifier(), "?token=\(ticket(#"{"sub":"\u00e9","exp":2000}"#))").get()
        #expect(throws: IdentityRefusal.otherDevice) {
            try verifier().identity(accented, naming: DeviceID(stored: "e\u{301}"))
        }
        // Without a ticket, the device that the request names replaces the one of the connection.
        #expect(
            try verifier().identity(.device(ada), naming: DeviceID(stored: "bob"))
                == .device(DeviceID(stored: "bob")))
    }

    @Test(
        "A ticket with unknown claims is refused",
        arguments: [
            #"{"exp":2000}"#, #"{"exp":2000,"sub":7}"#, #"{"exp":2000,"sub":""}"#, #"{"exp":2000,"sub":"a\u0000"}"#,
            #"{"exp":2000,"sub":"ada","topics":"room:*"}"#, #"{"exp":2000,"sub":"ada","topics":[1]}"#,
            #"{"exp":2000,"sub":"ada","topics":null}"#,
            #"{"exp":2000,"sub":"ada","topics":[\#(Array(repeating: "\"*\"", count: 101).joined(separator: ","))]}"#,
        ])
    func badClaims(claims: String) throws {
        #expect(try outcome(verifier(), "?token=\(ticket(claims))") == .failure(.badTicket(.malformed)))
    }

    @Test("An expired ticket is refused as expired") func over() throws {
        let over = try ticket(#"{"sub":"ada","exp":1000}"#)
        #expect(try outcome(verifier(), "?token=\(over)") == .failure(.badTicket(.expired)))
    }
}

@Suite struct TicketTests {
    private let session = UUID()

    private func ticket(_ topics: [String]?) -> Ticket {
        Ticket(device: DeviceID(stored: "ada"), expiry: 0, topics: topics?.map(TopicPattern.init))
    }

    @Test("A ticket without topics permits all topics, and one with an empty list permits none") func unconfined() {
        #expect(Identity.none.allows(.room(session)) && Identity.device(DeviceID(stored: "ada")).allows(.room(session)))
        #expect(Identity.ticket(ticket(nil)).allows(.conversation(session)))
        #expect(!Identity.ticket(ticket([])).allows(.conversation(session)))
    }

    @Test("A topic is named in full, or by its beginning and a final *") func patterns() {
        let id = session.uuidString
        for pattern in [
            "questions:\(id)", "questions:\(id.lowercased())", "questions:*", "*", "q*", "questions:\(id)*",
        ] {
            #expect(ticket(["room:*", pattern]).allows(.questions(session)), "\(pattern)")
        }
        for pattern in ["questions:", "questions", "", "*s", "room:*", "questions:*\(id)", "questions:\(id)0", "**"] {
            #expect(!ticket([pattern]).allows(.questions(session)), "\(pattern)")
        }
        #expect(!ticket(["questions:\(id)"]).allows(.questions(UUID())))
    }

    @Test("Device ids are compared byte for byte") func devices() {
        #expect(ticket(["device:Ada"]).allows(.device(DeviceID(stored: "Ada"))))
        #expect(!ticket(["device:Ada"]).allows(.device(DeviceID(stored: "ada"))))
        #expect(!ticket(["device:\u{E9}"]).allows(.device(DeviceID(stored: "e\u{301}"))))
        #expect(!ticket(["device:a*"]).allows(.device(DeviceID(stored: "Ada"))))
    }
}
