import CZlib
import Wire

/// permessage-deflate: the receiver inflates exactly what the sender compressed, no limit is exceeded, and connections
/// don't affect each other.
enum DeflateProperties {
    private static let limit = 2048

    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let parameters = WebSocketProperties.parameters(input)
        // The first byte is the length of the first message. The rest is the second one.
        let cut = min(Int(input.content.first ?? 0), input.content.count)
        let messages = [Array(input.content.dropFirst().prefix(cut)), Array(input.content.dropFirst(1 + cut))]
        if input.option(0) {
            try checkRoundTrip(messages, parameters)
        } else {
            try checkInflating(messages, parameters)
        }
    }

    private static func checkRoundTrip(
        _ messages: [[UInt8]], _ parameters: WebSocketDeflateParameters
    ) throws(BrokenProperty) {
        // The other end's parameters: the server's and the client's are swapped.
        var mirrored = WebSocketDeflateParameters()
        mirrored.clientNoContextTakeover = parameters.serverNoContextTakeover
        mirrored.clientMaxWindowBits = parameters.serverMaxWindowBits
        var sender = WebSocketDeflate(parameters)
        var receiver = WebSocketDeflate(mirrored)
        let pools = (WebSocketDeflatePool(), WebSocketDeflatePool())
        for message in messages + messages {
            let payload = message.withUnsafeBytes { sender.deflate($0, with: pools.0).map { Array($0) } }
            guard let payload else { continue }
            let received = inflate(payload, &receiver, limit: message.count, pools.1)
            try require(received == .success(message), "\(message.count) bytes come out as \(received)")
        }
    }

    private static func checkInflating(
        _ payloads: [[UInt8]], _ parameters: WebSocketDeflateParameters
    ) throws(BrokenProperty) {
        var deflate = WebSocketDeflate(parameters)
        var fresh = WebSocketDeflate(parameters)
        let used = WebSocketDeflatePool()
        var other = WebSocketDeflate(parameters)
        for payload in payloads {
            let outcome = inflate(payload, &deflate, limit: limit, WebSocketDeflatePool())
            // Other connections use the same pool before and between these messages.
            _ = inflate(payload.reversed(), &other, limit: 64, used)
            other = WebSocketDeflate(parameters)
            let shared = inflate(payload, &fresh, limit: limit, used)
            try require(outcome == shared, "a pool that was used before gives another message")
            guard case .success(let message) = outcome else { return }
            try require(message.count <= limit, "a message has \(message.count) bytes")
            guard parameters.clientNoContextTakeover else { continue }
            try require(plainInflate(payload) == message, "zlib itself gives another message")
        }
    }

    private static func inflate(
        _ payload: [UInt8], _ deflate: inout WebSocketDeflate, limit: Int, _ pool: WebSocketDeflatePool
    ) -> Result<[UInt8], WebSocketError> {
        withExactMemory(payload) { memory in
            Result { () throws(WebSocketError) in
                let bytes = UnsafeRawBufferPointer(memory)
                return Array(try deflate.inflate(bytes, .binary, maxMessageBytes: limit, with: pool))
            }
        }
    }

    /// Returns the message of a payload with one call of zlib. After a block that is marked as the last, a new stream
    /// begins.
    private static func plainInflate(_ payload: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        var bytes = payload + [0, 0, 0xFF, 0xFF]
        var output = [UInt8](repeating: 0, count: limit + 1)
        guard czlib_inflate_init(&stream, -15) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        let inputCount = bytes.count
        let outputCount = output.count
        return bytes.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(inputCount)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(outputCount)
                while true {
                    let result = CZlib.inflate(&stream, Z_SYNC_FLUSH)
                    guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else { return nil }
                    guard result == Z_STREAM_END, stream.avail_in > 0, inflateResetKeep(&stream) == Z_OK else { break }
                }
                return Array(output.prefix(outputCount - Int(stream.avail_out)))
            }
        }
    }
}
