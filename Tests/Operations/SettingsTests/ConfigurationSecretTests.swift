import Access
import Foundation
import Matches
import Rooms
import TestSupport
import Testing

@testable import Notifications
@testable import Settings

/// Secrets by flag, by variable, by file and by systemd's credentials.
@Suite struct ConfigurationSecretTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// Returns a directory with these files, which exists until the process ends.
    private func directory(of files: [String: String]) -> String {
        let directory = TestClusterDirectories.shared.make()
        for (name, text) in files {
            #expect(FileManager.default.createFile(atPath: "\(directory)/\(name)", contents: Data(text.utf8)))
        }
        return directory
    }

    private func configure(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Configuration {
        guard case .serve(let configuration) = try CommandLineParser(environment: environment).parse(arguments) else {
            throw UsageError("not serve")
        }
        return configuration
    }

    @Test("The database's URL may be in a file named by flag or variable")
    func database() throws {
        let files = directory(of: ["url": "postgresql://ada:sesame@h/d\n", "wrong": "sesame", "empty": " \n"])
        let expected = DatabaseChoice.url("postgresql://ada:sesame@h/d")
        #expect(try configure(["--database-url-file", "\(files)/url"]).database == expected)
        let variables = ["LETSSWITCH_DATABASE_URL_FILE": "\(files)/url", "DATABASE_URL": "postgres://other"]
        #expect(try configure([], variables).database == expected)
        #expect(
            try configure(["--database-url", "postgres://flag"], variables).database == .url("postgres://flag"))
        for name in ["wrong", "empty", "missing"] {
            let error = #expect(throws: UsageError.self) {
                try configure(["--database-url-file", "\(files)/\(name)"])
            }
            #expect(error?.description.hasPrefix("--database-url-file: ") == true)
            #expect(error?.description.contains("sesame") == false)
        }
    }

    @Test("A credential is used if neither flag nor variable is given")
    func credentials() throws {
        let files = [
            "database-url": "postgresql://credential\n", "webhook-secret": "\(Self.secret)\n",
            "ntfy-token": "tk_credential", "ticket-secret": String(repeating: "s", count: 32),
            "apns-key": "a key", "tls-key": "a key", "tls-certificate": "a certificate", "room-size": "7",
        ]
        let directory = self.directory(of: files)
        let environment = ["CREDENTIALS_DIRECTORY": directory, "DATABASE_URL": "postgres://other"]
        let arguments = [
            "--webhook-url", "https://example.org/", "--ntfy-server", "https://ntfy.sh", "--listen",
            "tls:127.0.0.1:0",
            "--apns-key-id", "ABC123DEFG", "--apns-team-id", "ABC123DEFG", "--apns-topic", "org.example.App",
        ]
        let all = try configure(arguments, environment)
        #expect(all.database == .url("postgresql://credential"))
        #expect(all.providers.webhook.secrets.count == 1 && all.providers.ntfy.token == "tk_credential")
        #expect(all.tickets.secrets.count == 1)
        #expect(all.providers.apns.keyFile == "\(directory)/apns-key")
        #expect(all.tlsKey == "\(directory)/tls-key" && all.tlsCertificate == "\(directory)/tls-certificate")
        // There is no secret and no credential.
        #expect(all.matches.roomSize == Configuration().matches.roomSize)
        let own = try configure(
            arguments + ["--ntfy-token", "tk_flag", "--tls-key", "/k"],
            environment.merging(["LETSSWITCH_DATABASE_URL": "postgres://variable"]) { $1 })
        #expect(own.database == .url("postgres://variable"))
        #expect(own.providers.ntfy.token == "tk_flag" && own.tlsKey == "/k")
        #expect(try configure([], ["CREDENTIALS_DIRECTORY": "/nonexistent"]) == Configuration())
    }

    @Test("A value and a file for one secret conflict")
    func bothForms() throws {
        let files = directory(of: ["token": "tk_file\n"])
        let server = ["--ntfy-server", "https://ntfy.sh"]
        let error = #expect(throws: UsageError.self) {
            try configure(server + ["--ntfy-token", "tk_flag", "--ntfy-token-file", "\(files)/token"])
        }
        #expect(error?.description == "--ntfy-token-file: must not be given together with --ntfy-token")
        let variable = ["LETSSWITCH_NTFY_TOKEN_FILE": "\(files)/token"]
        #expect(try configure(server + ["--ntfy-token", "tk_flag"], variable).providers.ntfy.token == "tk_flag")
        #expect(
            try configure(
                server + ["--ntfy-token-file", "\(files)/token"], ["LETSSWITCH_NTFY_TOKEN": "tk_variable"]
            )
            .providers.ntfy.token == "tk_file")
    }
}
