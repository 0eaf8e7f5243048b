import Foundation

/// A certificate authority for a test, made with the `openssl` command. Its directory is deleted with this object.
package final class TestAuthority: Sendable {
    /// A certificate with its key, in files.
    package struct Identity: Sendable {
        package let certificate: String
        package let key: String
    }

    package let directory: String
    /// The authority's own certificate.
    package let file: String

    package init() async throws {
        directory = TestClusterDirectories.shared.make()
        file = "\(directory)/authority.pem"
        // Only this user may read the directory, because it contains keys.
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory)
        try await openssl(
            ["req", "-x509", "-keyout", "\(directory)/authority.key", "-out", file, "-subj", "/CN=Test authority"]
                + Self.ellipticCurve)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Issues a certificate in files with this name, and replaces existing files.
    ///
    /// - Parameter hosts: The host names and addresses for which it is valid.
    package func issue(
        _ name: String = "server", serial: Int = 1, days: Int = 30, hosts: String = "DNS:localhost,IP:127.0.0.1"
    ) async throws -> Identity {
        let identity = Identity(certificate: "\(directory)/\(name).pem", key: "\(directory)/\(name).key")
        try await openssl(
            [
                "req", "-x509", "-CA", file, "-CAkey", "\(directory)/authority.key", "-keyout", identity.key, "-out",
                identity.certificate, "-subj", "/CN=localhost", "-set_serial", "\(serial)", "-days", "\(days)",
                "-addext", "subjectAltName=\(hosts)", "-addext", "basicConstraints=critical,CA:FALSE",
            ] + Self.ellipticCurve)
        return identity
    }

    private static let ellipticCurve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"]

    /// Runs the command, and returns its output.
    @discardableResult
    package func openssl(_ arguments: [String]) async throws -> String {
        let process = try await ChildProcess.start(
            "/usr/bin/openssl", arguments, environment: DaemonProcess.cleanEnvironment())
        let status = try await process.waitForExit()
        let output = process.lines.all.map(\.text).joined(separator: "\n")
        guard status == .exited(0) else {
            throw ClientFailure.violation("openssl \(arguments.joined(separator: " ")): \(status): \(output)")
        }
        return output
    }
}
