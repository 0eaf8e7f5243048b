import Basics
import Dispatch
import Foundation
import TestSupport
import Wire

@testable import LetsSwitchClient

/// A server that ends each connection in another way: with a close frame, without one, in the middle of a
/// message, with a reset, and by refusing at once.
final class ClosingServer: Sendable {
    let port: UInt16
    private let listener: CInt
    private let isOver = Locked(false)

    init() throws {
        let server = try RawServer()
        port = server.port
        listener = dup(server.descriptor)
        guard listener >= 0 else { throw ClientFailure.system(call: "dup", code: errno) }
        let (listener, isOver) = (listener, isOver)
        Thread.detachNewThread {
            var turn = 0
            while !isOver.withLock({ $0 }) {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { continue }
                turn += 1
                Self.serve(client, turn % 5)
            }
            close(listener)
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        shutdown(listener, CInt(SHUT_RDWR))
    }

    var address: ServerAddress {
        get throws { try ServerAddress("127.0.0.1:\(port)") }
    }

    private static func serve(_ client: CInt, _ turn: Int) {
        defer { close(client) }
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !head.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            head += buffer[..<count]
        }
        let text = String(decoding: head, as: UTF8.self)
        guard turn > 0, let key = RawServer.key(in: text) else {
            return write("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", [], to: client)
        }
        let answer = """
            HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Accept: \(WebSocketClientHandshake.acceptValue(forKey: key))\r\n\r\n
            """
        let hello = TestFrame(.text, #""hello""#).bytes(mask: nil)
        switch turn {
        case 1: write(answer, hello + TestFrame.close(1001).bytes(mask: nil), to: client)
        case 2: write(answer, hello, to: client)
        case 3: write(answer, Array(hello.dropLast(3)), to: client)
        default:
            write(answer, hello, to: client)
            var abrupt = linger(l_onoff: 1, l_linger: 0)
            setsockopt(client, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
        }
    }

    private static func write(_ text: String, _ bytes: [UInt8], to client: CInt) {
        let all = Array(text.utf8) + bytes
        _ = send(client, all, all.count, CInt(MSG_NOSIGNAL))
    }
}
