import Foundation
import TestSupport
import Testing

@testable import Sockets

@Suite struct TLSContextTests {
    @Test("A certificate's facts are read")
    func facts() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue(serial: 0x4711, days: 10)
        let context = try TLSContext(certificateFile: identity.certificate, keyFile: identity.key)
        let certificate = context.certificate
        #expect(certificate.subject == "CN=localhost")
        #expect(certificate.serial == "4711")
        #expect(certificate.chainLength == 1)
        #expect(certificate.validUntil - certificate.validFrom == 10 * 86_400)
        let now = Int64(Date().timeIntervalSince1970)
        #expect(abs(certificate.validFrom - now) < 600)
        #expect(certificate.refusal(at: now + 700) == nil)
        #expect(certificate.refusal(at: certificate.validFrom - 1)?.contains("not valid yet") == true)
        #expect(certificate.refusal(at: certificate.validUntil + 1)?.contains("expired") == true)
        #expect(context.warnings.isEmpty)
    }

    @Test("The chain is read from the certificate's file, which may contain the key")
    func chain() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        let all = "\(authority.directory)/all.pem"
        try
            ([identity.certificate, authority.file, identity.key].map {
                try String(contentsOfFile: $0, encoding: .utf8)
            })
            .joined().write(toFile: all, atomically: false, encoding: .utf8)
        let context = try TLSContext(certificateFile: all, keyFile: all)
        #expect(context.certificate.chainLength == 2)
        #expect(context.certificate.subject == "CN=localhost")
    }

    @Test("A key that everyone can read causes a warning")
    func warning() async throws {
        let authority = try await TestAuthority()
        let open = try await authority.issue()
        for (mode, count) in [(0o600, 0), (0o640, 0), (0o644, 1), (0o602, 1)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: open.key)
            let context = try TLSContext(certificateFile: open.certificate, keyFile: open.key)
            #expect(context.warnings.count == count)
            #expect(context.warnings.allSatisfy { $0.contains(open.key) })
        }
    }

    @Test("An unusable file is refused with its name and the reason")
    func refusals() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        let other = try await authority.issue("other")
        let directory = authority.directory
        func write(_ name: String, _ text: String) throws -> String {
            let path = "\(directory)/\(name)"
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            return path
        }
        let certificate = try String(contentsOfFile: identity.certificate, encoding: .utf8)
        let lines = certificate.split(separator: "\n")
        let damaged = try write("damaged", (lines.prefix(3) + lines.suffix(2)).joined(separator: "\n"))
        let damagedChain = try write("chain", certificate + (lines.prefix(3) + lines.suffix(2)).joined(separator: "\n"))
        let secret = "\(directory)/secret.key"
        try await authority.openssl(["pkey", "-aes256", "-passout", "pass:x", "-in", identity.key, "-out", secret])
        let cases: [(certificate: String, key: String, culprit: String, word: String)] = [
            ("\(directory)/none", identity.key, "\(directory)/none", "No such file"),
            (identity.certificate, "\(directory)/none", "\(directory)/none", "No such file"),
            (directory, identity.key, directory, "not a regular file"),
            (try write("empty", ""), identity.key, "\(directory)/empty", "no certificate"),
            (identity.key, identity.key, identity.key, "no certificate"),
            (identity.certificate, identity.certificate, identity.certificate, "no private key"),
            (identity.certificate, other.key, other.key, "does not belong"),
            (identity.certificate, secret, secret, "encrypted"),
            (damaged, identity.key, damaged, "damaged"),
            (damagedChain, identity.key, damagedChain, "certificate 2"),
            (try write("large", String(repeating: "x", count: 65_537)), identity.key, "\(directory)/large", "larger"),
        ]
        for (certificate, key, culprit, word) in cases {
            let error = #expect(throws: TLSFileError.self) {
                try TLSContext(certificateFile: certificate, keyFile: key)
            }
            #expect(error?.path == culprit, "\(word)")
            #expect(error?.reason.contains(word) == true, "\(error?.reason ?? ""), not: \(word)")
        }
        // The errors of the failed attempts don't affect the next one.
        _ = try TLSContext(certificateFile: identity.certificate, keyFile: identity.key)
    }
}
