import Foundation
import Glibc
import JourneyTestSupport
import LetsSwitch
import TestSupport
import Testing

@testable import Access
@testable import Settings

@Suite struct TLSJourneyTests {
    /// A daemon with a plain and a TLS listener, and the files of its certificate.
    private struct Setting {
        let authority: TestAuthority
        let identity: TestAuthority.Identity
        let daemon: DaemonProcess
        let plain: ClientEndpoint
        let secure: ClientEndpoint

        init(_ journey: Journey, environment: [String: String] = [:]) async throws {
            authority = try await TestAuthority()
            identity = try await authority.issue(serial: 0xA1)
            (daemon, plain) = try await journey.process(
                [
                    "--listen", "tls:127.0.0.1:0", "--tls-certificate", identity.certificate, "--tls-key", identity.key,
                    "--open-rooms",
                ], environment: environment)
            secure = try await daemon.nextListening()
        }

        /// Returns the serial number of the certificate that a new connection receives.
        func serial() async throws -> String? {
            let result = try await Curl.run([
                "--cacert", authority.file, "-o", "/dev/null", "-w", "%{certs}", "https://\(secure)/healthz",
            ])
            guard result.status == .exited(0) else { throw ClientFailure.violation("\(result)") }
            return result.output.split(separator: "\n").first { $0.hasPrefix("Serial Number:") }?
                .dropFirst("Serial Number:".count).trimmingCharacters(in: .whitespaces)
        }

        func metric(_ line: String) async throws -> Bool {
            try await plain.get("/metrics").text.contains(line)
        }
    }

    @Test("Peers with and without TLS share a room")
    func mixed() async throws {
        try await Journey.run { journey in
            let setting = try await Setting(journey)
            let room = UUID()
            let target = "/socket?id=\(room.uuidString)"
            let ale = #"{"type":"ale","id":"\#(room.uuidString)"}"#
            let python = try await PythonWebSocketClient.connect(
                to: setting.secure, target, trusting: setting.authority)
            #expect(try await python.nextMessage().json()["type"] == "handshake")
            let tunnel = try await TLSTunnel.connect(to: setting.secure, trusting: setting.authority)
            defer { withExtendedLifetime(tunnel) {} }
            let page = try await WebSocketTestClient.upgrade(
                tunnel.plain, target, headers: ["Host": "\(setting.secure)", "Origin": "https://\(setting.secure)"])
            #expect(try await page.nextMessage().json()["type"] == "handshake")
            let plain = try await WebSocketTestClient.connect(to: setting.plain, target)
            #expect(try await plain.nextMessage().json()["type"] == "handshake")

            // A burst from each side reaches all others completely.
            for _ in 0..<500 { try await plain.send(text: ale) }
            for _ in 0..<500 {
                #expect(try await python.nextMessage().json()["type"] == "aleResponse")
                #expect(try await page.nextMessage().json()["type"] == "aleResponse")
            }
            for _ in 0..<500 { try await page.send(text: ale) }
            for _ in 0..<500 {
                #expect(try await python.nextMessage().json()["type"] == "aleResponse")
                #expect(try await plain.nextMessage().json()["type"] == "aleResponse")
            }
            try await python.ping()
            #expect(try await python.close().code == 1000)
            try await page.closeHandshake()
        }
    }

    @Test("SIGHUP loads another certificate, unless it is broken")
    func reload() async throws {
        try await Journey.run { journey in
            let socket = try NotifySocket()
            let setting = try await Setting(journey, environment: ["NOTIFY_SOCKET": socket.path])
            let ready = try await socket.messages.next("READY")
            #expect(ready.hasPrefix("READY=1\n"))
            let room = "/socket?id=\(UUID().uuidString)"
            let open = try await PythonWebSocketClient.connect(to: setting.secure, room, trusting: setting.authority)
            _ = try await open.nextMessage()
            #expect(try await setting.serial() == "a1")

            _ = try await setting.authority.issue(serial: 0xB2)
            await setting.daemon.signal(SIGHUP)
            #expect(try await setting.daemon.waitForLog("certificate reloaded")["serial"] == "B2")
            let reloading = try await socket.messages.next("RELOADING")
            #expect(reloading.contains("RELOADING=1\nMONOTONIC_USEC="))
            #expect(try await socket.messages.next("READY again") == ready)
            #expect(try await setting.serial() == "b2")
            try await open.ping()

            try Data("nonsense".utf8).write(to: URL(fileURLWithPath: setting.identity.key))
            await setting.daemon.signal(SIGHUP)
            let warning = try await setting.daemon.waitForLog("certificate not reloaded")
            #expect(warning["level"] == "warning")
            #expect(warning["error"].string?.contains(setting.identity.key) == true)
            #expect(try await socket.messages.next("RELOADING").hasPrefix("RELOADING=1"))
            #expect(try await socket.messages.next("READY again") == ready)
            #expect(try await setting.serial() == "b2")
            try await open.ping()

            #expect(try await setting.metric("letsswitch_tls_certificate_reloads_total{outcome=\"succeeded\"} 1\n"))
            #expect(try await setting.metric("letsswitch_tls_certificate_reloads_total{outcome=\"failed\"} 1\n"))
            // Three handshakes by curl, one by Python.
            #expect(try await setting.metric("letsswitch_tls_handshakes_total 4\n"))
            #expect(try await setting.metric("\nletsswitch_tls_certificate_expiry_timestamp_seconds "))
            #expect(try await setting.daemon.terminate() == .exited(0))
        }
    }

    @Test("Without a certificate SIGHUP does nothing")
    func nothing() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process()
            await daemon.signal(SIGHUP)
            try await daemon.waitForLog("nothing to reload")
            #expect(try await endpoint.get("/healthz").status == 200)
            #expect(try await !endpoint.get("/metrics").text.contains("letsswitch_tls"))
        }
    }

    @Test("An unusable certificate ends the start first")
    func refused() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        let other = try await authority.issue("other")
        let daemon = try await DaemonProcess.start([
            "--listen", "tls:127.0.0.1:0", "--tls-certificate", identity.certificate, "--tls-key", other.key,
            "--state-dir", "\(authority.directory)/state",
        ])
        #expect(try await daemon.waitForExit() == .exited(1))
        #expect(daemon.output.contains(other.key) && daemon.output.contains("does not belong"))
        #expect(access("\(authority.directory)/state", F_OK) != 0)
    }

    @Test("The status of `check` shows whether it found faults")
    func check() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue(serial: 0xA1, days: 30)
        func check(_ key: String) async throws -> (status: TestSupport.ExitStatus, output: String) {
            let daemon = try await DaemonProcess.start([
                "check", "--listen", "tls:127.0.0.1:0", "--tls-certificate", identity.certificate, "--tls-key", key,
                "--state-dir", authority.directory, "--public-url", "https://localhost",
            ])
            return (try await daemon.waitForExit(), daemon.output)
        }
        let (status, output) = try await check(identity.key)
        #expect(status == .exited(0))
        #expect(output.contains("CN=localhost") && output.contains("serial A1") && output.contains("valid until 2"))
        #expect(!output.contains("warning"))
        chmod(identity.key, 0o644)
        #expect(try await check(identity.key).output.contains("warning: \(identity.key)"))
        let refused = try await check("\(authority.directory)/none")
        #expect(refused.status == .exited(1))
        #expect(refused.output.contains("error: \(authority.directory)/none: No such file"))
    }

    @Test("An expired certificate is reported with its time")
    func expired() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue(days: 1)
        var configuration = Configuration()
        (configuration.tlsCertificate, configuration.tlsKey) = (identity.certificate, identity.key)
        configuration.stateDirectory = authority.directory
        let now = Int64(Date().timeIntervalSince1970)
        #expect(ConfigurationCheck(of: configuration, at: now + 60).isPassed)
        let later = ConfigurationCheck(of: configuration, at: now + 2 * 86_400)
        #expect(!later.isPassed)
        #expect(later.report.contains("error: the certificate has expired"))
    }
}
