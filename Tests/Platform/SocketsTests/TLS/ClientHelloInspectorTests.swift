import Testing

@testable import Sockets

@Suite struct ClientHelloInspectorTests {
    private func verdict(
        _ bytes: [UInt8], inPiecesOf size: Int, isOldVersion: Bool = false
    ) -> ClientHelloInspector.Verdict {
        var inspector = ClientHelloInspector()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            let verdict = piece.withUnsafeBytes { inspector.inspect($0, isOldVersion: isOldVersion) }
            guard verdict == .mayPass else { return verdict }
        }
        return .mayPass
    }

    @Test(
        "The verdict about the first bytes doesn't depend on how they are split",
        arguments: [
            // Record: handshake, TLS 1.0, 512 bytes; message: ClientHello, 508 bytes.
            ([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3], ClientHelloInspector.Verdict.mayPass),
            // A message of 16 KB, and one that is a byte longer.
            ([0x16, 3, 1, 0x40, 0, 1, 0, 0x40, 0], .mayPass),
            ([0x16, 3, 1, 0x40, 0, 1, 0, 0x40, 1], .refused(.tooLarge)),
            ([0x16, 3, 1, 0x40, 0, 1, 2, 0, 0], .refused(.tooLarge)),
            // The header of the message is split into two records.
            ([0x16, 3, 1, 0, 2, 1, 0, 0x16, 3], .refused(.protocolError)),
            (Array("GET / HTTP/1.1\r\n".utf8), .refused(.plainHTTP)),
            (Array("POST".utf8), .refused(.plainHTTP)),
            (Array("SSH-2.0-x".utf8), .refused(.plainHTTP)),
            // A hello of SSL 2, and a record of application data.
            ([0x80, 0x2E, 1, 3, 1], .refused(.protocolError)),
            ([0x17, 3, 3, 0, 5, 0, 0, 0, 0], .refused(.protocolError)),
            ([0], .refused(.protocolError)),
        ], [1, 2, 7, 1000])
    func verdicts(_ example: ([UInt8], ClientHelloInspector.Verdict), size: Int) {
        #expect(verdict(example.0, inPiecesOf: size) == example.1)
    }

    /// A ClientHello almost without content.
    private static let hello: [UInt8] = [0x16, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3]
    private static let changeCipherSpec: [UInt8] = [0x14, 3, 3, 0, 1, 1]
    /// The beginning of a ClientHello of 128 KB.
    private static let longHello: [UInt8] = [0x16, 3, 3, 0x40, 0, 1, 2, 0, 0]

    @Test(
        "A second ClientHello is inspected, too",
        arguments: [
            (hello + longHello, ClientHelloInspector.Verdict.refused(.tooLarge)),
            (hello + changeCipherSpec + longHello, .refused(.tooLarge)),
            (hello + [0x15, 3, 3, 0, 2, 1, 90] + [0x17, 3, 3, 0, 3, 9, 9, 9] + longHello, .refused(.tooLarge)),
            // The header of the long message is split into two records, and the message follows another one.
            (hello + [0x16, 3, 3, 0, 3, 1, 2, 0, 0x16, 3, 3, 0x40, 0, 0], .refused(.tooLarge)),
            (hello + [0x16, 3, 3, 0x40, 0, 1, 0, 0, 1, 7, 1, 2, 0, 0], .refused(.tooLarge)),
            (hello + changeCipherSpec + hello + [0x17, 3, 3, 0, 4, 1, 2, 0, 0], .mayPass),
            // One message is split into two records.
            ([0x16, 3, 1, 0, 5, 1, 0, 0, 9, 3, 0x16, 3, 1, 0, 8, 3, 1, 2, 0, 0, 1, 2, 0], .mayPass),
        ], [1, 2, 7, 1000])
    func further(_ example: ([UInt8], ClientHelloInspector.Verdict), size: Int) {
        #expect(verdict(example.0, inPiecesOf: size) == example.1)
    }

    @Test("In TLS 1.2, encrypted bytes aren't inspected", arguments: [1, 1000])
    func oldVersion(size: Int) {
        let encrypted: [UInt8] = [0x16, 3, 3, 0, 0x28, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(
            verdict(Self.hello + Self.changeCipherSpec + encrypted, inPiecesOf: size, isOldVersion: true) == .mayPass)
        #expect(verdict(Self.hello + Self.longHello, inPiecesOf: size, isOldVersion: true) == .refused(.tooLarge))
    }

    @Test("The content of a ClientHello isn't inspected")
    func behind() {
        let hello: [UInt8] = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC]
        #expect(verdict(hello + Array("GET / HTTP/1.1".utf8), inPiecesOf: 9) == .mayPass)
    }
}
