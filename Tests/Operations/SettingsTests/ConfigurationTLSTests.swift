import Server
import Testing

@testable import Settings

@Suite struct ConfigurationTLSTests {
    private static let files = ["--tls-certificate", "/c.pem", "--tls-key", "/k.pem"]

    private static let refused: [(arguments: [String], word: String)] = [
        (["--listen", "tls:127.0.0.1:443"], "--tls-certificate"),
        (["--tls-certificate", "/c.pem", "--listen", "tls:127.0.0.1:443"], "--tls-key"),
        (["--tls-key", "/k.pem", "--listen", "tls:127.0.0.1:443"], "--tls-certificate"),
        (files, "tls:0.0.0.0:443"),
        (files + ["--listen", "unix:/a"], "tls:0.0.0.0:443"),
        (files + ["--listen", "tls:unix:/a"], "tls:unix:/a"),
        (files + ["--listen", "tls:443"], "tls:443"),
        (files + ["--listen", "tls:a:1", "--listen", "tls:a:1"], "twice"),
        (["--tls-certificate", "", "--tls-key", "/k"], "--tls-certificate"),
    ]

    private func configuration(_ arguments: [String]) throws -> Configuration {
        guard case .serve(let configuration) = try CommandLineParser(environment: [:]).parse(arguments) else {
            throw UsageError("no configuration")
        }
        return configuration
    }

    @Test("A TLS listener is an address after tls:")
    func listeners() throws {
        let configuration = try configuration(
            Self.files + ["--listen", "127.0.0.1:80", "--listen", "tls:[::]:443", "--listen", "tls:localhost:0"])
        let expected: [ListenAddress] = [
            .tcp(host: "127.0.0.1", port: 80), .tls(host: "::", port: 443), .tls(host: "localhost", port: 0),
        ]
        #expect(configuration.listen == expected)
        #expect(configuration.listen.map(\.description) == ["127.0.0.1:80", "tls:[::]:443", "tls:localhost:0"])
        #expect(configuration.tlsCertificate == "/c.pem")
        #expect(configuration.tlsKey == "/k.pem")
        #expect(configuration.limits.tlsHandshakeTimeout == .seconds(10))
    }

    @Test(
        "An invalid combination is refused with an explanation",
        arguments: refused)
    func refusals(arguments: [String], word: String) {
        let error = #expect(throws: UsageError.self) { try configuration(arguments) }
        #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
    }

    @Test("`check` accepts the same settings as serve")
    func check() throws {
        let arguments = Self.files + ["--listen", "tls:a:1"]
        let command = try CommandLineParser(environment: [:]).parse(["check"] + arguments)
        #expect(command == .check(try configuration(arguments)))
    }
}
