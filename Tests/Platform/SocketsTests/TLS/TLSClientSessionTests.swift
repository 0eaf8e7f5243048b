import COpenSSL
import Glibc
import TestSupport
import Testing

@testable import Sockets

/// A client's session and a server's session, both in memory.
@Suite struct TLSClientSessionTests {
    private struct Outcome {
        var isSecure = false
        var clientFailure: String?
        var received: [UInt8] = []
    }

    private static func shakeHands(
        with identity: TestAuthority.Identity, believing context: TLSClientContext, host: String,
        inPiecesOf size: Int = 1 << 20
    ) throws -> Outcome {
        let traffic = TLSTraffic(receiveBufferSize: Reactor.receiveBufferSize)
        let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 8)
        defer { vectors.deallocate() }
        let server = try #require(
            TLSSession(try TLSContext(certificateFile: identity.certificate, keyFile: identity.key)))
        let client = try #require(TLSSession(context, to: host))
        var outcome = Outcome()
        var queue = SendQueue()
        queue.append(SharedBytes(Array("hello".utf8)), times: 1)
        _ = client.open(UnsafeRawBufferPointer(start: nil, count: 0), with: traffic)
        for _ in 0..<6 {
            var flight = client.unsent[...]
            client.sent(flight.count, of: UnsafeRawBufferPointer(start: nil, count: 0))
            while !flight.isEmpty {
                _ = Array(flight.prefix(size)).withUnsafeBytes { server.open($0, with: traffic) }
                flight = flight.dropFirst(size)
            }
            guard server.seal(&queue, isLast: false, with: traffic, vectors) else { break }
            var answer = (server.unsent + Array(traffic.output))[...]
            server.sent(answer.count, of: traffic.output)
            while !answer.isEmpty {
                let input = Array(answer.prefix(size)).withUnsafeBytes { client.open($0, with: traffic) }
                outcome.received += input.plaintext
                if let failure = input.failure {
                    outcome.clientFailure = failure.reason
                    return outcome
                }
                answer = answer.dropFirst(size)
            }
        }
        outcome.isSecure = client.isSecure && server.isSecure
        return outcome
    }

    @Test(
        "The certificate's names and addresses are accepted", arguments: ["localhost", "127.0.0.1", "LOCALHOST"],
        [1, 1 << 20])
    func good(host: String, size: Int) async throws {
        let authority = try await TestAuthority()
        let context = try TLSClientContext(authorities: authority.file)
        let outcome = try Self.shakeHands(
            with: try await authority.issue(), believing: context, host: host, inPiecesOf: size)
        #expect(outcome.isSecure)
        #expect(outcome.clientFailure == nil)
        #expect(outcome.received == Array("hello".utf8))
    }

    @Test("A certificate for another name is refused", arguments: ["example.org", "127.0.0.2", "a.localhost"])
    func name(host: String) async throws {
        let authority = try await TestAuthority()
        let context = try TLSClientContext(authorities: authority.file)
        let outcome = try Self.shakeHands(with: try await authority.issue(), believing: context, host: host)
        #expect(!outcome.isSecure)
        #expect(try #require(outcome.clientFailure).contains("mismatch"))
    }

    @Test("A chain without a trusted authority is refused, including the system's")
    func chain() async throws {
        // The authority's files are deleted with this object.
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        defer { withExtendedLifetime(authority) {} }
        let other = try await TestAuthority()
        for context in [try TLSClientContext(authorities: other.file), try TLSClientContext()] {
            let outcome = try Self.shakeHands(with: identity, believing: context, host: "localhost")
            #expect(!outcome.isSecure)
            #expect(try #require(outcome.clientFailure).contains("issuer"))
        }
    }

    @Test("A certificate is refused before and after its validity")
    func expiry() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue(days: 1)
        for (days, reason) in [(10, "expired"), (-10, "not yet valid")] {
            let context = try TLSClientContext(authorities: authority.file)
            X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(context.handle), time(nil) + days * 86_400)
            let outcome = try Self.shakeHands(with: identity, believing: context, host: "localhost")
            #expect(!outcome.isSecure)
            #expect(try #require(outcome.clientFailure).contains(reason))
        }
    }

    @Test("A file without authorities is refused")
    func noAuthorities() {
        #expect(throws: TLSFileError.self) { try TLSClientContext(authorities: "/nonexistent") }
        #expect(throws: TLSFileError.self) { try TLSClientContext(authorities: "/etc/passwd") }
    }
}
