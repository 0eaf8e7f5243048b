import Foundation
import TestSupport
import Testing
import Wire

@testable import LetsSwitchClient

/// Tests with invalid answers of a server.
@Suite struct GarbageTests {
    /// Opens a WebSocket to a server with this answer.
    private static func open(
        _ answer: @escaping @Sendable (_ accept: String) -> [UInt8]
    ) async throws -> (link: any Link, peer: RawConnection) {
        let server = try RawServer()
        let transport = SocketTransport(server: try server.address)
        let serving = Task {
            let peer = try await server.accept()
            let request = String(decoding: try await peer.receiveUntil("\r\n\r\n"), as: UTF8.self)
            let key = RawServer.key(in: request) ?? ""
            try await peer.send(answer(WebSocketClientHandshake.acceptValue(forKey: key)))
            return peer
        }
        let link = try await transport.webSocket(ClientRequest(target: "/"), subprotocols: [])
        return (link, try await serving.value)
    }

    private static func acceptance(_ accept: String) -> [UInt8] {
        let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
        return Array("HTTP/1.1 101 Switching Protocols\r\n\(fields)".utf8)
    }

    @Test(
        "An invalid answer is an error and ends the traffic",
        arguments: [
            "SSH-2.0-OpenSSH_9\r\n\r\n", "HTTP/1.1 101 Yes\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
            "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
            "HTTP/1.1 101 Yes\n\n", String(repeating: "x", count: 20_000) + "\r\n",
        ])
    func answers(text: String) async throws {
        await #expect {
            _ = try await Self.open { _ in Array(text.utf8) }
        } throws: { error in
            guard case ClientError.garbled? = error as? ClientError else { return false }
            return true
        }
    }

    @Test(
        "An invalid frame ends the connection, and the server receives the close code",
        arguments: [
            (TestFrame(.text, "masked").bytes(), 1002), (TestFrame(.text, reserved: 4).bytes(mask: nil), 1002),
            (TestFrame(.init(3)).bytes(mask: nil), 1002), (TestFrame(.text, [0xC0, 0x80]).bytes(mask: nil), 1007),
            (TestFrame(.continuation, "x").bytes(mask: nil), 1002), (TestFrame.close(999).bytes(mask: nil), 1002),
            (TestFrame(.binary).bytes(mask: nil, announcedLength: 1 << 40), 1009),
        ] as [([UInt8], UInt16)])
    func frames(bytes: [UInt8], code: UInt16) async throws {
        let (link, peer) = try await Self.open { Self.acceptance($0) + bytes }
        await #expect {
            _ = try await link.receive()
        } throws: { error in
            guard case ClientError.garbled? = error as? ClientError else { return false }
            return true
        }
        link.drop()
        var received = try await peer.receiveToEnd()
        var parser = WebSocketParser(role: .server, maxMessageBytes: 125)
        let closeCode = try received.withUnsafeMutableBytes { bytes -> WebSocketCloseCode? in
            var input = bytes
            guard case .close(let code, _)? = try parser.next(&input) else { return nil }
            return code
        }
        #expect(closeCode == WebSocketCloseCode(rawValue: code))
    }
}
