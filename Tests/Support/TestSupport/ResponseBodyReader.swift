/// Reads a response's body piece by piece with the framing that its head announced (RFC 9112 §6.3), and no byte after
/// it.
struct ResponseBodyReader: Sendable {
    private enum Framing: Sendable {
        case length(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        /// The CRLF after a chunk's last byte.
        case chunkEnd
        case trailer
        case untilClosed
        case done
    }

    private var framing: Framing

    init(of response: TestResponse, to method: String) {
        let hasNoBody = method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304
        if hasNoBody || (method == "CONNECT" && response.status < 300) {
            framing = .done
        } else if response.headers["Transfer-Encoding"] != nil {
            framing = .chunkSize
        } else if let length = response.headers["Content-Length"].flatMap({ Int($0) }) {
            framing = .length(remaining: length)
        } else {
            framing = .untilClosed
        }
    }

    /// Returns the next bytes, at least one; `nil` at the body's end. A call that timed out can be repeated.
    mutating func next(from connection: RawConnection, within allowed: Duration) async throws -> [UInt8]? {
        while true {
            switch framing {
            case .done, .length(remaining: 0): return nil
            case .untilClosed:
                let bytes = try await connection.receive(upTo: 65_536, within: allowed)
                if bytes.isEmpty { framing = .done }
                return bytes.isEmpty ? nil : bytes
            case .length(let remaining):
                let bytes = try await Self.piece(upTo: remaining, from: connection, within: allowed)
                framing = .length(remaining: remaining - bytes.count)
                return bytes
            case .chunk(let remaining):
                let bytes = try await Self.piece(upTo: remaining, from: connection, within: allowed)
                framing = bytes.count == remaining ? .chunkEnd : .chunk(remaining: remaining - bytes.count)
                return bytes
            case .chunkEnd:
                guard try await connection.receiveExactly(2, within: allowed) == [0x0D, 0x0A] else {
                    throw ClientFailure.violation("a chunk without its CRLF (RFC 9112 §7.1)")
                }
                framing = .chunkSize
            case .chunkSize:
                let line = try await connection.receiveUntil("\r\n", limit: 256, within: allowed).dropLast(2)
                let size = try Self.chunkSize(line)
                framing = size == 0 ? .trailer : .chunk(remaining: size)
            case .trailer:
                let line = try await connection.receiveUntil("\r\n", within: allowed)
                guard line.count == 2 else {
                    throw ClientFailure.violation("trailer field \(ReceivedBytes.preview(line))")
                }
                framing = .done
            }
        }
    }

    /// Reads hexadecimal digits only, because our server sends no chunk extensions.
    private static func chunkSize(_ line: ArraySlice<UInt8>) throws(ClientFailure) -> Int {
        let text = String(decoding: line, as: UTF8.self)
        guard text.first?.isHexDigit == true, let size = Int(text, radix: 16) else {
            throw .violation("chunk size \(ReceivedBytes.preview(line))")
        }
        return size
    }

    private static func piece(
        upTo limit: Int, from connection: RawConnection, within allowed: Duration
    ) async throws -> [UInt8] {
        let bytes = try await connection.receive(upTo: limit, within: allowed)
        guard !bytes.isEmpty else {
            throw ClientFailure.ended(waitingFor: "\(limit) more bytes of the body", received: "nothing")
        }
        return bytes
    }
}
