/// A TLS connection by `openssl s_client`: what goes through ``plain`` is sealed on the other side, so that every client
/// here can speak TLS, for as long as somebody holds the tunnel. Whoever doesn't read from it lets the server wait.
package struct TLSTunnel: Sendable {
    private let process: ChildProcess
    package let plain: RawConnection

    /// - Parameter arguments: Further ones of `s_client`.
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

    /// What `s_client` said about the connection's end. Waits for its own.
    package func complaints() async throws -> String {
        _ = try await process.waitForExit()
        return process.lines.all.map(\.text).joined(separator: "\n")
    }
}
