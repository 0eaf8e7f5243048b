import Wire

/// Frames that a benchmark sends and expects, built in advance. The hot path only copies and counts them.
enum LoadFrame {
    /// The server's greeting.
    static let handshake = frame(.binary, #"{"type":"handshake"}"#)
    /// Action Cable's greeting.
    static let welcome = frame(.text, #"{"type":"welcome"}"#)
    static let cablePing = frame(.text, #"{"type":"ping","message":1795320000}"#)
    /// The frame that a peer receives for another peer's ale.
    static let aleResponse = frame(.binary, #"{"type":"aleResponse"}"#)
    static let aleResponseLength = 24
    /// The answer to a ping without data. The mask is zero.
    static let pong: [UInt8] = [0x8A, 0x80, 0, 0, 0, 0]

    /// The handshake with the same key for all connections of all processes of a run.
    private static let opening = WebSocketClientHandshake(nonce: (1, 2))
    static let accept = WebSocketClientHandshake.acceptValue(forKey: opening.key)
    static let switchingProtocols = """
        HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: \(accept)\r\n\r\n
        """

    /// The request for a room's WebSocket.
    static func upgrade(room: String, offersCompression: Bool) -> [UInt8] {
        upgrade(target: "/socket?id=\(room)", offersCompression: offersCompression)
    }

    /// - Parameter client: The client's address, as a proxy names it. With `nil`, no address is named and no limit per
    ///   address applies.
    static func upgrade(target: String, offersCompression: Bool = false, client: String? = nil) -> [UInt8] {
        let extensions = offersCompression ? [HTTPField("Sec-WebSocket-Extensions", "permessage-deflate")] : []
        let forwarded = client.map { [HTTPField("X-Forwarded-For", $0)] } ?? []
        return opening.request(target, host: "127.0.0.1", fields: extensions + forwarded)
    }

    /// The rules that the server's frames must follow.
    static let rules = WebSocketFrameHeader.Rules(role: .client, maxMessageBytes: 1 << 20)

    /// A masked ale.
    static func ale(room: String) -> [UInt8] {
        frame(.text, #"{"type":"ale","id":"\#(room)"}"#, mask: WebSocketMask(0x37, 0xFA, 0x21, 0x3D))
    }

    /// Returns memory with `copies` copies of the response to an ale. The caller must free the memory.
    static func run(copies: Int) -> UnsafeMutableRawPointer {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: copies * aleResponseLength, alignment: 16)
        let frame = aleResponse
        for index in 0..<(copies * aleResponseLength) {
            memory.storeBytes(of: frame[index % aleResponseLength], toByteOffset: index, as: UInt8.self)
        }
        return memory
    }

    /// Returns the next frame of a server, if it is complete.
    static func next(
        _ rest: inout Slice<UnsafeRawBufferPointer>
    ) throws(BenchFailure) -> (WebSocketOpcode, Slice<UnsafeRawBufferPointer>)? {
        let header: WebSocketFrameHeader?
        do throws(WebSocketError) {
            header = try WebSocketFrameHeader(UnsafeRawBufferPointer(rebasing: rest), rules: rules)
        } catch {
            throw BenchFailure(error.reason)
        }
        guard let header, rest.count >= header.count + header.payloadBytes else { return nil }
        let payload = rest.dropFirst(header.count).prefix(header.payloadBytes)
        rest = rest.dropFirst(header.count + header.payloadBytes)
        return (header.opcode, payload)
    }

    private static func frame(_ opcode: WebSocketOpcode, _ text: String, mask: WebSocketMask? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(opcode, Array(text.utf8), mask: mask, into: &bytes)
        return bytes
    }
}
