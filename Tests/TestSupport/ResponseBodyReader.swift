/// Reads a response's body piece by piece as it comes, by whichever framing the head announced (RFC 9112 §6.3), and
/// never a byte beyond it.
struct ResponseBodyReader: Sendable {
    private enum Framing: Sendable {
        case length(remaining: Int)
        case chunked(remainingInChunk: Int)
        case untilClosed
        case done
    }

    private var framing: Framing

    init(of response: TestResponse, to method: String) {
        let hasNoBody = method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304
        if hasNoBody || (method == "CONNECT" && response.status < 300) {
            framing = .done
        } else if response.headers["Transfer-Encoding"] != nil {
            framing = .chunked(remainingInChunk: 0)
        } else if let length = response.headers["Content-Length"].flatMap({ Int($0) }) {
            framing = .length(remaining: length)
        } else {
            framing = .untilClosed
        }
    }

    /// The next bytes, at least one; `nil` at the body's end.
    mutating func next(from connection: RawConnection, within allowed: Duration) async throws -> [UInt8]? {
        switch framing {
        case .done: return nil
        case .untilClosed:
            let bytes = try await connection.receive(upTo: 65_536, within: allowed)
            if bytes.isEmpty { framing = .done }
            return bytes.isEmpty ? nil : bytes
        case .length(let remaining):
            guard remaining > 0 else { return nil }
            let bytes = try await Self.piece(upTo: remaining, from: connection, within: allowed)
            framing = .length(remaining: remaining - bytes.count)
            return bytes
        case .chunked(var remaining):
            if remaining == 0 {
                remaining = try await Self.chunkSize(from: connection, within: allowed)
                guard remaining > 0 else {
                    framing = .done
                    return nil
                }
            }
            let bytes = try await Self.piece(upTo: remaining, from: connection, within: allowed)
            if bytes.count == remaining {
                let end = try await connection.receiveExactly(2, within: allowed)
                guard end == [0x0D, 0x0A] else { throw ClientFailure.violation("a chunk without its CRLF") }
            }
            framing = .chunked(remainingInChunk: remaining - bytes.count)
            return bytes
        }
    }

    /// A chunk's size; zero after the last one, whose trailer section has then been read, and must be empty.
    private static func chunkSize(from connection: RawConnection, within allowed: Duration) async throws -> Int {
        let line = try await connection.receiveUntil("\r\n", limit: 256, within: allowed).dropLast(2)
        guard !line.isEmpty, let size = Int(String(decoding: line, as: UTF8.self), radix: 16), size >= 0,
            line.first != UInt8(ascii: "+"), line.first != UInt8(ascii: "-")
        else { throw ClientFailure.violation("chunk size \(ReceivedBytes.preview(line))") }
        if size == 0 {
            let trailer = try await connection.receiveUntil("\r\n", within: allowed)
            guard trailer.count == 2 else {
                throw ClientFailure.violation("trailer field \(ReceivedBytes.preview(trailer))")
            }
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
