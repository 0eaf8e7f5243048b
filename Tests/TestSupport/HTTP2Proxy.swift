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
            let port = try freePort()
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

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw ClientFailure.system(call: "socket", code: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard bound else { throw ClientFailure.system(call: "bind", code: errno) }
        return UInt16(bigEndian: address.sin_port)
    }
}
