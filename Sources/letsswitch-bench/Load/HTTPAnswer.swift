import Glibc

/// An answer as it comes in: where it ends, and whether it is the one that is due. It is asked of servers that are known to answer with
/// `Content-Length`.
enum HTTPAnswer {
    private static let blankLine = Array("\r\n\r\n".utf8)
    private static let length = Array("Content-Length: ".utf8)

    /// Bytes of the answer at the front of `bytes`; `nil` when not all of them are there yet.
    private static func count(_ bytes: UnsafeRawBufferPointer) throws(BenchFailure) -> Int? {
        guard let base = bytes.baseAddress, let end = find(blankLine, in: bytes) else { return nil }
        guard let field = find(length, in: UnsafeRawBufferPointer(start: base, count: end)) else {
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

    /// A success.
    static let success = UInt8(ascii: "2")
    /// A refusal.
    static let refusal = UInt8(ascii: "4")

    /// Whether all of one answer has come, whose status must begin with the digit `status`, and nothing behind it.
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

    /// The offset of the first occurrence.
    private static func find(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress, bytes.count >= needle.count else { return nil }
        var from = 0
        while let candidate = memchr(base + from, Int32(needle[0]), bytes.count - from) {
            let offset = UnsafeRawPointer(candidate) - base
            guard bytes.count - offset >= needle.count else { return nil }
            if memcmp(candidate, needle, needle.count) == 0 { return offset }
            from = offset + 1
        }
        return nil
    }
}
