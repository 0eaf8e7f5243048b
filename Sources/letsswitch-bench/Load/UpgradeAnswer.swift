import Glibc

/// The answer to an upgrade: the head, then the server's greeting, and nothing else.
enum UpgradeAnswer {
    /// A head is far shorter.
    private static let longest = 1024
    private static let status = Array("HTTP/1.1 101 ".utf8)

    /// Reads it whole, waiting for it.
    static func await(on socket: Int32) throws(BenchFailure) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: longest)
        while !isComplete(bytes) {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw count < 0 ? BenchFailure(call: "recv (upgrade)") : BenchFailure("an upgrade was refused")
            }
            bytes += buffer[..<count]
            guard bytes.count < longest, bytes.starts(with: status.prefix(bytes.count)) else { throw refused(bytes) }
        }
        try check(bytes)
    }

    /// Whether all has come: cheap, and right only for answers that are right.
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
