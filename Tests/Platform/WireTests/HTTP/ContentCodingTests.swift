import CZlib
import Testing

@testable import Wire

/// Content codings that a client accepts (RFC 9110 §12.5.3), and gzip.
@Suite struct ContentCodingTests {
    @Test(
        "gzip is sent to clients that accept it at least as much as plain content",
        arguments: [
            ("gzip", true), ("gzip, deflate, br, zstd", true), ("br;q=1.0, GZip;q=0.8", true), ("x-gzip", true),
            ("*", true), ("gzip;q=0.001", true), ("deflate, gzip;q=1.0, *;q=0.5", true), (" gzip ; q=0.5 ,", true),
            ("gzip;q=0.5, identity;q=0.5", true), ("identity;q=0, gzip", true),
            ("", false), ("identity", false), ("br", false), ("gzip;q=0", false), ("gzip;q=0.000", false),
            ("*;q=0", false), ("gzip;q=0, *", false), ("gzip;q=0.4, identity;q=0.5", false), ("gzippy", false),
            ("gzip;q=1.5", false), ("gzip;q=a", false), ("gzip;q=0.1234", false), ("gzip;level=9", false),
            ("gzip;q=", false), (";q=1", false), ("gzip q=1", false),
        ])
    func preference(_ value: String, _ isPreferred: Bool) {
        #expect(head("GET / HTTP/1.1", "Accept-Encoding: \(value)")?.headers.prefersGzip == isPreferred)
    }

    @Test("A client without Accept-Encoding gets plain content")
    func otherFields() {
        #expect(head("GET / HTTP/1.1")?.headers.prefersGzip == false)
        let fields = head("GET / HTTP/1.1", "Accept-Encoding: br", "Accept-Encoding: gzip;q=0.1")
        #expect(fields?.headers.prefersGzip == true)
    }

    @Test("Only the first 32 codings are read", arguments: ["br, ", ","])
    func many(_ element: String) {
        for (count, isPreferred) in [(31, true), (32, false), (1000, false)] {
            let value = String(repeating: element, count: count) + "gzip"
            #expect(head("GET / HTTP/1.1", "Accept-Encoding: \(value)")?.headers.prefersGzip == isPreferred)
        }
    }

    @Test("zlib decompresses the compressed content", arguments: [0, 1, 100, 70_000])
    func gzip(_ count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251 * ($0 / 251)) }
        let compressed = try #require(Gzip.compress(content))
        #expect(compressed.starts(with: [0x1F, 0x8B, 8]) && Gzip.compress(content) == compressed)
        #expect(inflated(compressed, atMost: count + 1) == content)
    }

    private func inflated(_ bytes: [UInt8], atMost limit: Int) -> [UInt8]? {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        guard czlib_inflate_init(stream, 15 + 16) == Z_OK else { return nil }
        defer { inflateEnd(stream) }
        var input = bytes
        return input.withUnsafeMutableBufferPointer { source in
            var isWhole = false
            let output = [UInt8](unsafeUninitializedCapacity: limit) { target, written in
                stream.pointee.next_in = source.baseAddress
                stream.pointee.avail_in = UInt32(source.count)
                stream.pointee.next_out = target.baseAddress
                stream.pointee.avail_out = UInt32(limit)
                isWhole = inflate(stream, Z_FINISH) == Z_STREAM_END && stream.pointee.avail_in == 0
                written = limit - Int(stream.pointee.avail_out)
            }
            return isWhole ? output : nil
        }
    }
}
