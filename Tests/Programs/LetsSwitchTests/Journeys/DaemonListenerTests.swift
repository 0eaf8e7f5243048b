import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

@Suite struct DaemonListenerTests {
    @Test("The listeners of a daemon share its rooms, and each is logged")
    func everywhere() async throws {
        try await Journey.run { journey in
            let path = "/tmp/letsswitch-test-\(UUID().uuidString.prefix(8)).sock"
            defer { unlink(path) }
            let (daemon, first) = try await journey.process(
                ["--listen", "[::1]:0", "--listen", "unix:\(path)", "--open-rooms"])
            let endpoints = [first, try await daemon.nextListening(), try await daemon.nextListening()]
            #expect(endpoints[0].description.hasPrefix("127.0.0.1:"))
            #expect(endpoints[1].description.hasPrefix("[::1]:"))
            #expect(endpoints[2] == .unix(path: path))
            for endpoint in endpoints { #expect(try await endpoint.get("/readyz").status == 200) }
            let room = UUID()
            let peers = try await endpoints.asyncMap { try await $0.enter(room) }
            for sender in peers.indices {
                try await peers[sender].send(text: RoomMessages.ale(room))
                for receiver in peers.indices where receiver != sender {
                    #expect(try await peers[receiver].nextMessage() == RoomMessages.cheer)
                }
            }
            for peer in peers { await peer.close() }
            #expect(try await daemon.terminate() == .exited(0))
            #expect(access(path, F_OK) != 0)

            // A socket file left behind by a killed daemon doesn't prevent the start.
            let killed = try await journey.process(["--listen", "unix:\(path)"])
            _ = try await killed.daemon.nextListening()
            await killed.daemon.signal(SIGKILL)
            _ = try await killed.daemon.waitForExit()
            #expect(access(path, F_OK) == 0)
            let next = try await journey.process(["--listen", "unix:\(path)"])
            let endpoint = try await next.daemon.nextListening()
            #expect(try await endpoint.get("/healthz").status == 200)
            #expect(try await next.daemon.terminate() == .exited(0))
        }
    }

    @Test("The first log line has the address and the database, without a password")
    func startLine() async throws {
        try await Journey.run { journey in
            // In the URL the host is the directory of the server's socket.
            let words = ConnectionWords(journey.conninfo)
            let (user, name) = (try words.value("user"), try words.value("dbname"))
            let url = "postgresql://\(user):sesame@\(try words.value("host").replacing("/", with: "%2F"))/\(name)"
            let daemon = try await DaemonProcess.start(["--listen", "127.0.0.1:0", "--database-url", url])
            let line = try await daemon.waitForLog("listening")
            #expect(line["level"] == "info")
            #expect(line["address"].string?.hasPrefix("127.0.0.1:") == true)
            #expect(line["data"].string?.contains(name) == true)
            let summary = try await daemon.waitForLog("started")
            #expect(summary["level"] == "info" && summary["listen"] == line["address"])
            #expect(summary["database"] == line["data"] && summary["databaseReady"] == true)
            #expect(summary["publicURL"] == "none" && summary["providers"] == "none" && summary["bus"] == "auto")
            #expect(summary["operations"] == "none")
            #expect(summary["on"] == "questions, conversations, notifications")
            #expect(summary["missing"].string?.hasPrefix("--web-push-contact, --ntfy-server, ") == true)
            #expect(try await daemon.terminate() == .exited(0))
            #expect(!daemon.output.contains("sesame"))
        }
    }
}
