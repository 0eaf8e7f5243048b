import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

private enum Nginx {
    static let program = "/usr/sbin/nginx"
    static let isInstalled = access(program, X_OK) == 0
}

/// Three daemons behind nginx, with the configuration in DAEMONS.md and other ports.
@Suite(
    .enabled(if: TestBroker.isWanted, "they are of the long tests: make interop-daemons"),
    .enabled(if: Nginx.isInstalled, "there is no nginx: sh Sources/Scripts/set-up.sh interop"))
struct NginxTests {
    private static let page = Checkout.url("Sources/Operations/Daemons/DAEMONS.md")

    /// Returns the page's configuration with the addresses of these daemons.
    private static func configuration(_ daemons: [ClientEndpoint], listening: String) throws -> String {
        let parts = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```nginx\n")
        var text = try #require(parts.count == 2 ? parts[1].components(separatedBy: "```").first : nil)
        let places = (8081...8083).map { "127.0.0.1:\($0)" } + ["listen 8080;"]
        for (place, other) in zip(places, daemons.map(\.authority) + ["listen \(listening);"]) {
            #expect(text.components(separatedBy: place).count == 2)
            text = text.replacingOccurrences(of: place, with: other)
        }
        return text
    }

    /// - Returns: The process of nginx, and its address.
    private static func start(before daemons: [ClientEndpoint]) async throws -> (ChildProcess, ClientEndpoint) {
        let directory = URL(fileURLWithPath: TestClusterDirectories.shared.make())
        let file = directory.appendingPathComponent("nginx.conf").path
        let listening = "127.0.0.1:\(try FreePort.find())"
        let endpoint = try #require(ClientEndpoint(listening))
        try configuration(daemons, listening: listening).write(toFile: file, atomically: true, encoding: .utf8)
        let nginx = try await ChildProcess.start(
            Nginx.program, ["-p", directory.path, "-c", file, "-g", "daemon off;"],
            environment: ["PATH": "/usr/bin:/bin"])
        try await eventually("an answer through nginx") {
            (try? await endpoint.get("/readyz").status) == 200
        }
        return (nginx, endpoint)
    }

    @Test("Clients behind nginx receive all ales on any daemon")
    func fleet() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(3, in: journey)
            let (nginx, endpoint) = try await Self.start(before: fleet.endpoints)
            let room = UUID()
            var peers: [FleetPeer] = []
            for _ in 0..<12 { peers.append(try await FleetPeer.enter(room, at: endpoint, "&presence=true")) }
            for peer in peers { try await peer.waitForCount(12) }
            try await peers[0].send(5)
            for peer in peers.dropFirst() { try await eventually("five ales") { await peer.received == 5 } }
            #expect(await peers[0].received == 0)
            // All three daemons have members.
            for daemon in fleet.endpoints {
                #expect(try await MetricsReading(daemon).sum("letsswitch_room_members") > 0)
            }

            let lost = Int(try await MetricsReading(fleet.endpoints[1]).sum("letsswitch_room_members"))
            try await fleet[1].process.terminate()
            try await eventually("the end of \(lost) connections") {
                var ended = 0
                for peer in peers where await !peer.isConnected { ended += 1 }
                return ended == lost
            }
            var stayed: [FleetPeer] = []
            for peer in peers {
                if await peer.isConnected { stayed.append(peer) } else { #expect(await peer.close?.code == 1001) }
            }
            for _ in stayed.count..<peers.count {
                stayed.append(try await FleetPeer.enter(room, at: endpoint, "&presence=true"))
            }
            for peer in stayed { try await peer.waitForCount(12) }
            let received = await stayed[0].received
            try await stayed[11].send(3)
            try await eventually("three ales") { await stayed[0].received == received + 3 }

            for index in [0, 2] { try await fleet[index].process.terminate() }
            await nginx.signal(SIGQUIT)
            _ = try await nginx.waitForExit()
        }
    }
}
