import Foundation
import Glibc

/// Debian's `nghttpx` before a server of a test's: HTTP/2 and TLS that nobody here wrote.
package final class TLSFront: Sendable {
    package static let executable = "/usr/sbin/nghttpx"
    package static let isInstalled = access(executable, X_OK) == 0
    package static let hint = "nghttpx is missing: apt-get install nghttp2-proxy"

    /// `https://127.0.0.1:12345`.
    package let url: String
    private let process: ChildProcess

    private init(url: String, process: ChildProcess) {
        self.url = url
        self.process = process
    }

    /// A front for the server at `endpoint`, with a certificate for 127.0.0.1.
    package static func start(
        before endpoint: ClientEndpoint, _ identity: TestAuthority.Identity,
        within allowed: Duration = Deadline.standard
    ) async throws -> TLSFront {
        let backend = endpoint.authority.split(separator: ":").joined(separator: ",")
        let deadline = ContinuousClock.now + allowed
        while true {
            let port = try freePort()
            let process = try await ChildProcess.start(
                executable,
                [
                    "--conf=/dev/null", "--frontend=127.0.0.1,\(port)", "--backend=\(backend)", "--no-ocsp",
                    "--single-process", "--workers=1", "--frontend-http2-max-concurrent-streams=1000",
                    "--errorlog-file=/dev/stderr",
                    "--accesslog-file=/dev/stdout", "--accesslog-format=$alpn $remote_port $status",
                    identity.key, identity.certificate,
                ], environment: DaemonProcess.cleanEnvironment())
            while ContinuousClock.now < deadline {
                if let connection = try? await RawConnection.connect(to: .tcp(host: "127.0.0.1", port: port)) {
                    await connection.close()
                    return TLSFront(url: "https://127.0.0.1:\(port)", process: process)
                }
                // Somebody else may have taken the port meanwhile.
                if (try? await process.waitForExit(within: .milliseconds(20))) != nil { break }
            }
            guard ContinuousClock.now < deadline else {
                throw ClientFailure.violation("nghttpx doesn't start: \(process.lines.all.map(\.text))")
            }
        }
    }

    /// A line for each request that was answered: protocol by its name in ALPN (`h2`), the client's port, status.
    package var requests: [(protocol: String, port: String, status: String)] {
        process.lines.all.compactMap { line in
            let words = line.text.split(separator: " ").map(String.init)
            return words.count == 3 && UInt16(words[1]) != nil ? (words[0], words[1], words[2]) : nil
        }
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw ClientFailure.system(call: "socket", code: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) != 0 || getsockname(descriptor, pointer, &length) != 0
            }
        }
        guard !failed else { throw ClientFailure.system(call: "bind", code: errno) }
        return UInt16(bigEndian: address.sin_port)
    }
}
