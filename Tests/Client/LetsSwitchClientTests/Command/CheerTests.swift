import Foundation
import TestSupport
import Testing
import Wire

@testable import LetsSwitchClient

/// `letsswitch cheer` in a room that ends before the command has left, so that its cheers may be lost.
@Suite struct CheerTests {
    @Test(
        "The exit status distinguishes a closed room from a lost connection",
        arguments: [(false, 1), (true, 69)] as [(Bool, Int32)])
    func unheard(byReset: Bool, status: Int32) async throws {
        let server = try RawServer()
        let serving = Task {
            let health = try await server.accept()
            _ = try await health.receiveUntil("\r\n\r\n")
            try await health.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let peer = try await server.accept()
            let request = String(decoding: try await peer.receiveUntil("\r\n\r\n"), as: UTF8.self)
            let accept = WebSocketClientHandshake.acceptValue(forKey: RawServer.key(in: request) ?? "")
            try await peer.send(
                "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
            )
            _ = try await peer.receive(upTo: 1)
            if byReset { return try await peer.reset() }
            try await peer.send(TestFrame.close(1000).bytes(mask: nil))
            try await peer.expectClosed()
        }
        let daemon = URL(fileURLWithPath: try DaemonProcess.executable())
        let command = daemon.deletingLastPathComponent().appendingPathComponent("letsswitch").path
        let process = try await ChildProcess.start(
            command, ["cheer", UUID().uuidString, "--server", "http://127.0.0.1:\(server.port)"],
            environment: DaemonProcess.cleanEnvironment())
        #expect(try await process.waitForExit() == .exited(status), "\(process.lines.all.map(\.text))")
        _ = await serving.result
    }
}
