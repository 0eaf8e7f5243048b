import Foundation
import Testing
import Wire

@testable import Settings

@Suite struct ConfigurationHostTests {
    private func served(_ arguments: [String] = []) throws -> Set<String> {
        guard case .serve(let configuration) = try CommandLineParser(environment: [:]).parse(arguments) else {
            return []
        }
        return Set(configuration.servedHosts.description.split(separator: ", ").map(String.init))
    }

    @Test("By default the daemon accepts this machine's names")
    func machine() throws {
        let name = ProcessInfo.processInfo.hostName.lowercased()
        let label = name.prefix { $0 != "." }
        #expect(try served().isSuperset(of: ["localhost", "\(label)", "\(label).local"]))
    }

    @Test("The hosts of the public URL, of listeners and of the list are accepted")
    func further() throws {
        let own = try served()
        for (arguments, names) in [
            (["--public-url", "https://Example.org:8443/"], ["example.org"]),
            (["--listen", "lan.example:80", "--listen", "[::1]:1", "--listen", "unix:/a"], ["lan.example"]),
            (["--operations-listen", "ops.example:9464"], ["ops.example"]),
            (["--hosts", "a.example,b.example"], ["a.example", "b.example"]),
            (["--hosts", "*.example.org"], ["*.example.org"]),
        ] {
            #expect(try served(arguments) == own.union(names))
        }
        #expect(try served(["--hosts", "*"]) == ["*"])
    }

    @Test("An address serves either everyone or operators")
    func addresses() throws {
        let error = #expect(throws: UsageError.self) {
            try served(["--listen", "127.0.0.1:1", "--operations-listen", "127.0.0.1:1"])
        }
        #expect(error?.description.hasPrefix("--operations-listen: ") == true)
        #expect(throws: Never.self) { try served(["--listen", "127.0.0.1:0", "--operations-listen", "127.0.0.1:0"]) }
        #expect(throws: UsageError.self) { try served(["--operations-listen", "tls:127.0.0.1:0"]) }
    }
}
