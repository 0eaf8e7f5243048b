import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

@Suite struct DaemonPrivilegeTests {
    /// Returns the fields of a thread's status file (proc(5)) by name.
    private func status(_ thread: String) throws -> [String: String] {
        let text = try String(contentsOfFile: "\(thread)/status", encoding: .utf8)
        return Dictionary(
            text.split(separator: "\n").compactMap { line in
                line.firstIndex(of: ":").map {
                    (String(line[..<$0]), line[line.index(after: $0)...].trimmingCharacters(in: .whitespaces))
                }
            }, uniquingKeysWith: { $1 })
    }

    @Test("The daemon keeps only the privileges that it needs")
    func rights() async throws {
        try await TestLimiter.journeys.hold {
            let directory = "/tmp/letsswitch-state-\(UUID().uuidString.prefix(8))"
            mkdir(directory, 0o755)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let (daemon, _) = try await DaemonProcess.listening(
                ["--listen", "127.0.0.1:0", "--state-dir", directory])
            let process = "/proc/\(daemon.process.pid)"
            let threads = try FileManager.default.contentsOfDirectory(atPath: "\(process)/task")
            #expect(threads.count > 1)
            for thread in threads {
                let status = try status("\(process)/task/\(thread)")
                #expect(status["NoNewPrivs"] == "1")
                #expect(status["CapAmb"] == "0000000000000000")
                guard geteuid() == 0 else { continue }
                // The capabilities that the daemon keeps: chown, dac_override, fowner, kill, setgid, setuid,
                // net_bind_service and sys_ptrace. It has fewer if the test's own process has fewer.
                let needed: UInt64 = 0x804EB
                for name in ["CapPrm", "CapEff", "CapBnd"] {
                    let held = try #require(status[name].flatMap { UInt64($0, radix: 16) })
                    #expect(held & ~needed == 0, "\(name) \(held)")
                }
                #expect(status["CapInh"] == "0000000000000000")
            }
            let file = try String(contentsOfFile: "\(directory)/postgres/data/postmaster.pid", encoding: .utf8)
            let postmaster = try #require(file.split(separator: "\n").first)
            let cluster = try status("/proc/\(postmaster)")
            #expect(cluster["NoNewPrivs"] == "1" && cluster["CapEff"] == "0000000000000000")
            #expect(cluster["CapPrm"] == "0000000000000000" && cluster["CapAmb"] == "0000000000000000")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("A limit reduced by the number of descriptors is logged")
    func descriptors() async throws {
        try await Journey.run { journey in
            let daemon = try await DaemonProcess.start(
                [
                    "-c", #"ulimit -n 300 && exec "$0" "$@""#, try DaemonProcess.executable(), "--listen",
                    "127.0.0.1:0",
                    "--database-url", journey.conninfo, "--max-connections", "5000",
                ], executable: "/bin/sh")
            let line = try await daemon.waitForLog(
                "fewer connections are accepted than --max-connections: too few file descriptors (ulimit -n, LimitNOFILE=)"
            )
            #expect(line["level"].string == "warning" && line["maxConnections"].int == 5000)
            #expect(line["descriptors"].int == 300 && line["connections"].int.map { $0 < 300 } == true)
            #expect(line["connectionsPerAddress"].int.map { $0 < 75 } == true)
            _ = try await daemon.nextListening()
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
