import Glibc

/// Debian's `nghttpx` in front of a server of ours: an independent implementation of HTTP/2 over TLS.
package final class HTTP2Proxy: Sendable {
    private static let executable = "/usr/sbin/nghttpx"
    private static let attempts = 5

    package let port: UInt16
    package let process: ChildProcess

    /// Returns a URL with the host name in the certificate.
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
            // The port is free now. If another process takes it before the proxy does, another port is tried.
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
