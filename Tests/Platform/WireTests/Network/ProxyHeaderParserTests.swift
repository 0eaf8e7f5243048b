import Testing

@testable import Wire

@Suite struct ProxyHeaderParserTests {
    private static let signature = [UInt8](hex: "0D 0A 0D 0A 00 0D 0A 51 55 49 54 0A")

    private static func binary(_ fields: String, _ payload: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? payload.count
        return signature + [UInt8](hex: fields) + [UInt8(length >> 8), UInt8(length & 0xFF)] + payload
    }

    private static let ipv4 = [UInt8](hex: "CB 00 71 07 C0 00 02 01 DC 04 00 50")
    private static let ipv6 = [UInt8](
        hex:
            "20 01 0D B8 00 00 00 00 00 00 00 00 00 00 00 07 20 01 0D B8 00 00 00 00 00 00 00 00 00 00 00 01 DC 04 00 50"
    )

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    /// The result for bytes in pieces: a header and the bytes after it, an error, or `nil` while it is incomplete.
    private func outcome(of pieces: [[UInt8]]) -> Result<(header: ProxyHeader, left: [UInt8]), ProxyHeaderError>? {
        var parser = ProxyHeaderParser()
        for (index, piece) in pieces.enumerated() {
            do throws(ProxyHeaderError) {
                var left: [UInt8] = []
                let header = piece.withUnsafeBytes { bytes in
                    var input = bytes
                    defer { left = Array(input) }
                    return Result { () throws(ProxyHeaderError) in try parser.next(&input) }
                }
                if let header = try header.get() { return .success((header, left + pieces[(index + 1)...].joined())) }
                guard left.isEmpty else { return nil }
            } catch {
                return .failure(error)
            }
        }
        return nil
    }

    private func expect(_ expected: Result<ProxyHeader, ProxyHeaderError>, of bytes: [UInt8], then rest: [UInt8]) {
        for pieces in arrivals(of: bytes + rest, random: 5) {
            switch (outcome(of: pieces), expected) {
            case (.success(let found), .success(let header)):
                #expect(found.header == header && found.left == rest, "\(pieces)")
            case (.failure(let found), .failure(let error)):
                #expect(found == error, "\(pieces)")
            case (let found, _):
                Issue.record("\(String(describing: found)) for \(pieces)")
            }
        }
    }

    @Test(
        "Version 1 names the source in a line",
        arguments: [
            ("PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\r\n", "203.0.113.7"),
            ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 0\r\n", "255.255.255.255"),
            ("PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n", "2001:db8::7"),
            ("PROXY TCP6 ::ffff:203.0.113.7 ::1 1 1\r\n", "203.0.113.7"), ("PROXY UNKNOWN\r\n", nil),
            ("PROXY UNKNOWN ffff:f...f:ffff whatever 1\r\n", nil),
            ("PROXY UNKNOWN " + String(repeating: "x", count: 91) + "\r\n", nil),
        ])
    func lines(line: String, source: String?) throws {
        let header = try source.map { ProxyHeader.source(try #require(IPAddress($0))) } ?? .ownConnection
        expect(.success(header), of: Array(line.utf8), then: Array("GET / HTTP/1.1\r\n".utf8))
        expect(.success(header), of: Array(line.utf8), then: [])
    }

    @Test("Version 2 contains the source in bytes")
    func binary() throws {
        let v4 = ProxyHeader.source(try address("203.0.113.7"))
        let v6 = ProxyHeader.source(try address("2001:db8::7"))
        let extensions = [UInt8](hex: "03 00 04 A9 B8 7C 1F 04 00 00")
        let cases: [([UInt8], ProxyHeader)] = [
            (Self.binary("21 11", Self.ipv4), v4), (Self.binary("21 21", Self.ipv6), v6),
            (Self.binary("21 11", Self.ipv4 + extensions), v4), (Self.binary("21 21", Self.ipv6 + extensions), v6),
            (Self.binary("20 00", []), .ownConnection), (Self.binary("20 11", Self.ipv4), .ownConnection),
            (Self.binary("20 FF", extensions), .ownConnection), (Self.binary("21 00", []), .ownConnection),
            (Self.binary("21 00", extensions), .ownConnection),
            (Self.binary("21 31", [UInt8](repeating: 0x2F, count: 216)), .ownConnection),
        ]
        for (bytes, header) in cases {
            expect(.success(header), of: bytes, then: [])
            expect(.success(header), of: bytes, then: Array("GET".utf8))
        }
    }

    @Test("The longest header of version 2 is skipped without being stored")
    func longest() throws {
        let bytes = Self.binary("21 11", Self.ipv4 + [UInt8](repeating: 0, count: 65_535 - 12))
        for size in [1, 1000, 70_000] {
            let pieces = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            guard case .success(let found) = outcome(of: pieces + [[1, 2]]) else {
                Issue.record("no header in pieces of \(size)")
                continue
            }
            #expect(found.header == .source(try address("203.0.113.7")))
            #expect(found.left == [1, 2])
        }
    }

    @Test(
        "An invalid header is refused at its first wrong byte",
        arguments: [
            ("GET / HTTP/1.1\r\n", ProxyHeaderError.noHeader), ("P\r\n", .noHeader), ("PROXYTCP4", .noHeader),
            ("proxy TCP4 ", .noHeader), ("\r\n\r\n\0\r\nQUIT\r", .noHeader), ("\u{16}\u{3}", .noHeader),
            ("\n", .noHeader),
            ("PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.7 192.0.2.1 56324 65536\r\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.7 192.0.2.1 056324 80\r\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.7 192.0.2.1 +1 80\r\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.7 192.0.2.1 80\r\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.7  192.0.2.1 1 80\r\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.7 192.0.2.1 1 80 \r\n", .lineMalformed),
            ("PROXY TCP4 2001:db8::7 2001:db8::1 1 80\r\n", .lineMalformed),
            ("PROXY TCP6 203.0.113.7 192.0.2.1 1 80\r\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.07 192.0.2.1 1 80\r\n", .lineMalformed),
            ("PROXY TCP4 203.0.113.7 192.0.2 1 80\r\n", .lineMalformed),
            ("PROXY UDP4 203.0.113.7 192.0.2.1 1 80\r\n", .lineMalformed), ("PROXY \r\n", .lineMalformed),
            ("PROXY UNKNOWNS\r\n", .lineMalformed),
            ("PROXY UNKNOWN " + String(repeating: "x", count: 93), .lineTooLong),
        ])
    func refusedLines(text: String, error: ProxyHeaderError) {
        expect(.failure(error), of: Array(text.utf8), then: [])
    }

    @Test("Invalid fields of version 2 are refused")
    func refusedFields() {
        let cases: [([UInt8], ProxyHeaderError)] = [
            (Self.binary("11 11", Self.ipv4), .versionUnknown), (Self.binary("31 11", Self.ipv4), .versionUnknown),
            (Self.binary("22 11", Self.ipv4), .commandUnknown), (Self.binary("21 12", Self.ipv4), .familyUnknown),
            (Self.binary("21 22", Self.ipv6), .familyUnknown), (Self.binary("21 01", Self.ipv4), .familyUnknown),
            (Self.binary("21 41", Self.ipv6), .familyUnknown),
            (Self.binary("21 11", Self.ipv4, length: 11), .lengthTooShort),
            (Self.binary("21 21", Self.ipv6, length: 35), .lengthTooShort),
            (Self.binary("21 31", Self.ipv6, length: 215), .lengthTooShort),
        ]
        for (bytes, error) in cases { expect(.failure(error), of: bytes, then: []) }
    }

    @Test("Damaged headers have the same outcome in every split", arguments: 0..<20)
    func damage(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let sound = [
            Array("PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\r\n".utf8), Array("PROXY UNKNOWN\r\n".utf8),
            Self.binary("21 11", Self.ipv4), Self.binary("21 21", Self.ipv6 + [1, 2, 3]), Self.binary("20 00", []),
        ]
        for original in sound {
            for _ in 0..<20 {
                let bytes = damaged(original + Array("GET ".utf8), using: &random)
                let ways = someArrivals(of: bytes, using: &random).map { outcome(of: $0) }
                let shown = ways.map { String(describing: $0) }
                #expect(Set(shown).count == 1, "\(bytes): \(shown)")
            }
        }
    }
}
