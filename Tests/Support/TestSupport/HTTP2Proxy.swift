import Glibc

/// Debian's `nghttpx` before a server of ours: HTTP/2 over TLS, by people who know how.
package final class HTTP2Proxy: Sendable {
    private static let executable = "/usr/sbin/nghttpx"
    private static let attempts = 5

    package let port: UInt16
    package let process: ChildProcess

    /// As the certificate says.
    package func url(_ path: String = "") -> String { "https://localhost:\(port)\(path)" }

    private init(port: UInt16, process: ChildProcess) {
        self.port = port
        self.process = process
    }

    package static func start(
        before backend: ClientEndpoint, identity: TestAuthority.Identity, _ arguments: [String] = []
    ) async throws -> HTTP2Proxy {
        guard case .tcp(let host, let backendPort) = backend else { throw ClientFailure.misuse("\(backend)") }
        var last = ""
        for _ in 0..<attempts {
            // Free now, and taken by somebody else perhaps before the proxy has it: then another.
            let port = try FreePort.find()
            let process = try await ChildProcess.start(
                executable,
                [
                    "--conf=/dev/null", "--single-process", "--workers=1", "--no-ocsp", "--errorlog-file=/dev/stderr",
                    "--accesslog-file=/dev/stderr", "--frontend=127.0.0.1,\(port)", "--backend=\(host),\(backendPort)",
                    "--log-level=NOTICE",
                ] + arguments + [identity.key, identity.certificate], environment: [:])
            do {
                try await process.lines.next("nghttpx listening") { $0.text.contains("Listening on") }
                return HTTP2Proxy(port: port, process: process)
            } catch {
                await process.signal(SIGKILL)
                last = process.lines.all.map(\.text).joined(separator: "\n")
            }
        }
        throw ClientFailure.violation("nghttpx doesn't start: \(last)")
    }
}
