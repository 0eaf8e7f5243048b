import Testing

@testable import Wire

@Suite struct WebSocketDeflateTests {
    private static func parameters(
        server: UInt8? = nil, client: UInt8? = nil, keepsContext: Bool = true
    ) -> WebSocketDeflateParameters {
        var parameters = WebSocketDeflateParameters()
        parameters.serverMaxWindowBits = server
        parameters.clientMaxWindowBits = client
        parameters.serverNoContextTakeover = !keepsContext
        parameters.clientNoContextTakeover = !keepsContext
        return parameters
    }

    /// Returns messages of different kinds with repeated parts at every distance.
    private static func messages(_ seed: UInt64) -> [[UInt8]] {
        var random = SeededRandom(seed: seed)
        let words = (0..<60).map { _ in letters(Int.random(in: 3...20, using: &random)).shuffled(using: &random) }
        return (0..<40).map { place in
            switch place % 4 {
            case 0: (0..<Int.random(in: 1...400, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            case 1:
                (0..<Int.random(in: 1...3000, using: &random)).flatMap { _ in words.randomElement(using: &random) ?? []
                }
            case 2: [UInt8](repeating: UInt8(place), count: Int.random(in: 1...70_000, using: &random))
            default: (0..<40).flatMap { _ in words[place % 50] + pattern(Int.random(in: 230...300, using: &random)) }
            }
        }
    }

    @Test("The peer refuses references outside its window")
    func peerRefusesReferencesOutsideItsWindow() throws {
        let reader = try #require(WindowedInflater(windowBits: 8))
        #expect(reader.message(TestDeflate().stored(pattern(300)).message) == pattern(300))
        #expect(reader.message(TestDeflate().fixed([.match(length: 3, distance: 256)]).message) != nil)
        #expect(reader.message(TestDeflate().fixed([.match(length: 3, distance: 257)]).message) == nil)
    }

    // zlib's raw deflate doesn't support a window of 8 bits.
    @Test(
        "Messages refer only within the negotiated window",
        arguments: UInt8(8)...15, [true, false])
    func messagesReferNoFurtherThanWasAgreed(_ bits: UInt8, _ keepsContext: Bool) throws {
        let reader = try #require(WindowedInflater(windowBits: bits))
        let pool = WebSocketDeflatePool()
        var sender = WebSocketDeflate(Self.parameters(server: bits, keepsContext: keepsContext))
        var compressed = 0
        for message in Self.messages(UInt64(bits)) {
            let payload = message.withUnsafeBytes { sender.deflate($0, with: pool).map { Array($0) } }
            guard let payload else { continue }
            compressed += 1
            #expect(reader.message(payload) == message)
            if !keepsContext { reader.resetWindow() }
        }
        #expect(compressed >= 20)
    }

    @Test(
        "A compressed message is decompressed unchanged",
        arguments: [8, 9, 12, 15, nil] as [UInt8?], [true, false])
    func compressedMessageIsDecompressedUnchanged(_ bits: UInt8?, _ keepsContext: Bool) throws {
        // A client's parameters are a server's with both directions swapped.
        let (here, there) = (WebSocketDeflatePool(), WebSocketDeflatePool())
        var client = WebSocketDeflate(Self.parameters(server: bits, keepsContext: keepsContext))
        var server = WebSocketDeflate(Self.parameters(client: bits, keepsContext: keepsContext))
        for message in Self.messages(99) {
            let payload = message.withUnsafeBytes { client.deflate($0, with: there).map { Array($0) } }
            guard let payload else {
                #expect(!keepsContext)
                continue
            }
            let read = try payload.withUnsafeBytes {
                Array(try server.inflate($0, .binary, maxMessageBytes: message.count, with: here))
            }
            #expect(read == message)
            #expect(payload.count <= WebSocketDeflate.longestPayload(of: message.count))
        }
    }

    @Test("A message that doesn't become shorter is sent uncompressed unless later ones refer to it")
    func messageThatDoesNotBecomeShorterIsSentUncompressed() {
        let pool = WebSocketDeflatePool()
        let noise = Array(Self.messages(3)[0].prefix(200))
        var single = WebSocketDeflate(Self.parameters(keepsContext: false))
        var kept = WebSocketDeflate(Self.parameters())
        noise.withUnsafeBytes { noise in
            let isSingleCompressed = single.deflate(noise, with: pool) != nil
            let first = kept.deflate(noise, with: pool)?.count ?? 0
            let second = kept.deflate(noise, with: pool)?.count ?? 0
            #expect(!isSingleCompressed)
            #expect(first > noise.count)
            #expect(second < 20)
        }
    }

    @Test("An empty message is sent uncompressed")
    func emptyMessageIsSentUncompressed() {
        var deflate = WebSocketDeflate(Self.parameters())
        let isCompressed = deflate.deflate(UnsafeRawBufferPointer(start: nil, count: 0), with: .init()) != nil
        #expect(!isCompressed)
    }

    @Test("Connections that share a pool are independent")
    func connectionsThatShareAPoolDoNotSeeEachOthersMessages() throws {
        let pool = WebSocketDeflatePool()
        var first = WebSocketDeflate(Self.parameters(keepsContext: false))
        var second = WebSocketDeflate(Self.parameters(keepsContext: false))
        let hello = TestDeflate().text("Hello").message
        let reference = TestDeflate().fixed([.match(length: 5, distance: 5)]).message
        let message = try hello.withUnsafeBytes {
            Array(try first.inflate($0, .text, maxMessageBytes: 100, with: pool))
        }
        #expect(message == Array("Hello".utf8))
        #expect(throws: WebSocketError.corruptDeflate) {
            try reference.withUnsafeBytes { _ = try second.inflate($0, .text, maxMessageBytes: 100, with: pool) }
        }
        // After one connection's error the others continue.
        let again = try hello.withUnsafeBytes { Array(try first.inflate($0, .text, maxMessageBytes: 100, with: pool)) }
        #expect(again == Array("Hello".utf8))
        let payloads = (0..<2).map { _ in
            letters(300).withUnsafeBytes { bytes in first.deflate(bytes, with: pool).map { Array($0) } }
        }
        #expect(payloads[0] != nil && payloads[0] == payloads[1])
    }

    @Test("A read message stays valid while it is answered")
    func readMessageStaysValidWhileItIsAnswered() throws {
        let pool = WebSocketDeflatePool()
        var deflate = WebSocketDeflate(Self.parameters(keepsContext: false))
        let payload = TestDeflate().stored(letters(300)).message
        try payload.withUnsafeBytes { payload in
            let message = try deflate.inflate(payload, .binary, maxMessageBytes: 300, with: pool)
            let answer = deflate.deflate(message, with: pool)
            #expect(answer != nil)
            #expect(Array(message) == letters(300))
        }
    }

    @Test("The memory of a large message is freed with the next one")
    func memoryOfLargeMessageIsFreedWithNextOne() throws {
        let pool = WebSocketDeflatePool()
        var deflate = WebSocketDeflate(Self.parameters(keepsContext: false))
        let large = TestDeflate().fixed(
            [.literal(0)] + [TestDeflate.Symbol](repeating: .match(length: 258, distance: 1), count: 1000)
        ).message
        var capacities: [Int] = []
        for payload in [[0x00], large, [0x00]] {
            try payload.withUnsafeBytes {
                _ = try deflate.inflate($0, .binary, maxMessageBytes: 300_000, with: pool)
            }
            capacities.append(pool.inflated.capacity)
        }
        #expect(capacities[1] > 258_000 && capacities[1] <= 300_001)
        #expect(capacities[2] <= ZlibOutput.kept)
    }

    @Test("A decompression bomb uses no more memory than the limit")
    func decompressionBombUsesNoMoreMemoryThanLimit() {
        let pool = WebSocketDeflatePool()
        var deflate = WebSocketDeflate(Self.parameters())
        let bomb = TestDeflate().fixed(
            [.literal(0)] + [TestDeflate.Symbol](repeating: .match(length: 258, distance: 1), count: 4000)
        ).message
        #expect(throws: WebSocketError.messageTooBig(limit: 5000)) {
            try bomb.withUnsafeBytes { _ = try deflate.inflate($0, .binary, maxMessageBytes: 5000, with: pool) }
        }
        let capacity = pool.inflated.capacity
        #expect(capacity <= 5001)
    }

    @Test("Invalid zlib parameters fail")
    func whatZlibCannotBeIsNone() {
        #expect(Inflater(windowBits: 16) == nil)
        #expect(Inflater(windowBits: 7) == nil)
        #expect(Deflater(windowBits: 16, .thorough) == nil)
    }

    @Test("A connection's state is small")
    func aConnectionIsSmall() {
        #expect(MemoryLayout<WebSocketDeflate?>.size <= 16)
        #expect(WebSocketDeflate.longestPayload(of: .max) == .max)
    }

    @Test("Damaged payloads are read within bounds")
    func damagedPayloadsAreReadWithinBounds() {
        var random = SeededRandom(seed: 5)
        let pool = WebSocketDeflatePool()
        var refused = 0
        let payloads = ConformanceCase.all.filter { $0.compression != nil && $0.bytes.count < 300 }.map {
            Array($0.bytes.dropFirst(6))
        }
        for _ in 0..<20 {
            for payload in payloads {
                var deflate = WebSocketDeflate(Self.parameters(client: 9))
                withExactMemory(damaged(payload, using: &random)) { bytes in
                    let message = try? deflate.inflate(
                        UnsafeRawBufferPointer(bytes), .binary, maxMessageBytes: 500, with: pool)
                    if let message { #expect(message.count <= 500) } else { refused += 1 }
                }
            }
        }
        #expect(refused > 100)
    }
}
