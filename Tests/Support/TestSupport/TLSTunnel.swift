/// A TLS connection by `openssl s_client`. Bytes written to ``plain`` are encrypted, so every test client can use TLS
/// while it holds the tunnel. If the client doesn't read, the server has to wait.
package struct TLSTunnel: Sendable {
    private let process: ChildProcess
    package let plain: RawConnection

    /// - Parameter arguments: Further arguments of `s_client`.
    package static func connect(
        to endpoint: ClientEndpoint, trusting authority: TestAuthority, _ arguments: [String] = []
    ) async throws -> TLSTunnel {
        let process = try await ChildProcess.start(
            "/usr/bin/openssl",
            [
                "s_client", "-connect", endpoint.authority, "-CAfile", authority.file, "-verify_return_error",
                "-verify_quiet", "-quiet", "-nocommands",
            ] + arguments, environment: DaemonProcess.cleanEnvironment(), converses: true)
        guard let plain = process.conversation else { throw ClientFailure.misuse("no conversation") }
        return TLSTunnel(process: process, plain: plain)
    }

    package var http: HTTPTestClient { HTTPTestClient(over: plain) }

    /// Waits for the end of `s_client`. Returns its error output.
    package func errorOutput() async throws -> String {
        _ = try await process.waitForExit()
        return process.lines.all.map(\.text).joined(separator: "\n")
    }
}
