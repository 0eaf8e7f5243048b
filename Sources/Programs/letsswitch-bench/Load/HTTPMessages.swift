import Basics
import Glibc

/// Builds requests as bytes.
enum LoadRequest {
    static func get(_ target: String) -> [UInt8] {
        Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
    }

    static func post(_ target: String, json: String) -> [UInt8] {
        Array("POST \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)".utf8)
    }

    /// Returns the request that registers a task. `startsAt` is in epoch seconds.
    static func task(device: String, startsAt: Int) -> [UInt8] {
        post("/task", json: #"{"deviceId":"\#(device)","title":"History","startsAt":"\#(UTCTime(seconds: startsAt))"}"#)
    }
}

/// Finds the end of a response and checks its status. Works only for servers that send `Content-Length`.
enum HTTPResponse {
    fileprivate static let blankLine = Array("\r\n\r\n".utf8)
    private static let length = Array("Content-Length: ".utf8)

    /// Returns the length of the response at the start of `bytes`; `nil` if the response is incomplete.
    private static func count(_ bytes: UnsafeRawBufferPointer) throws(BenchFailure) -> Int? {
        guard let base = bytes.baseAddress, let end = bytes.offset(of: blankLine) else { return nil }
        guard let field = UnsafeRawBufferPointer(start: base, count: end).offset(of: length) else {
            throw BenchFailure("an answer without Content-Length: \(text(bytes))")
        }
        var content = 0
        var position = field + length.count
        while position < end, case let digit = bytes[position], digit >= 0x30, digit <= 0x39 {
            content = content * 10 + Int(digit - 0x30)
            position += 1
        }
        let count = end + blankLine.count + content
        return bytes.count >= count ? count : nil
    }

    /// The first digit of a success status.
    static let success = UInt8(ascii: "2")
    /// The first digit of a refusal.
    static let refusal = UInt8(ascii: "4")

    /// Returns whether `bytes` is exactly one complete response. Its status must begin with the digit `status`.
    static func isWhole(_ bytes: UnsafeRawBufferPointer, status: UInt8 = success) throws(BenchFailure) -> Bool {
        guard let count = try count(bytes) else { return false }
        guard count == bytes.count, count > 12, bytes[9] == status else {
            throw BenchFailure("not the one answer that was due: \(text(bytes))")
        }
        return true
    }

    static func isWhole(_ bytes: [UInt8], status: UInt8 = success) throws(BenchFailure) -> Bool {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(BenchFailure) in try isWhole(bytes, status: status) }
        }.get()
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix(500), as: UTF8.self)
    }
}

/// The response to an upgrade: the head, then the server's greeting, and no further bytes.
enum UpgradeResponse {
    /// The maximum size of a head in bytes. Real heads are far shorter.
    private static let longest = 1024
    private static let status = Array("HTTP/1.1 101 ".utf8)

    /// Waits for the whole response.
    static func await(on socket: Int32) throws(BenchFailure) {
        try check(try read(from: socket, until: isComplete))
    }

    /// Waits for the response of Action Cable. The server may have sent further messages already.
    static func awaitWelcome(on socket: Int32) throws(BenchFailure) {
        let end = HTTPResponse.blankLine + LoadFrame.welcome
        _ = try read(from: socket) { $0.withUnsafeBytes { $0.offset(of: end) != nil } }
    }

    private static func read(
        from socket: Int32, until isComplete: ([UInt8]) -> Bool
    ) throws(BenchFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while !isComplete(bytes) {
            let more = try LoadSocket.receive(from: socket)
            guard !more.isEmpty else { throw BenchFailure("an upgrade was refused") }
            bytes += more
            guard bytes.count < longest, bytes.starts(with: status.prefix(bytes.count)) else { throw refused(bytes) }
        }
        return bytes
    }

    /// Returns whether the response is complete. The check is fast, but works only for correct responses.
    static func isComplete(_ bytes: [UInt8]) -> Bool {
        bytes.count > LoadFrame.handshake.count
            && bytes.suffix(LoadFrame.handshake.count).elementsEqual(LoadFrame.handshake)
    }

    static func check(_ bytes: [UInt8]) throws(BenchFailure) {
        let head = String(decoding: bytes.dropLast(LoadFrame.handshake.count), as: UTF8.self)
        guard bytes.starts(with: status), head.hasSuffix("\r\n\r\n"), head.contains(LoadFrame.accept) else {
            throw refused(bytes)
        }
    }

    private static func refused(_ bytes: [UInt8]) -> BenchFailure {
        BenchFailure("not an upgrade: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
    }
}
