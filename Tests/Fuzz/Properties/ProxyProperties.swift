import Wire

/// PROXY headers: the result is the same for every splitting and by a simple parser, and no byte after the header is
/// taken.
enum ProxyProperties {
    private struct Outcome: Equatable {
        var header: ProxyHeader?
        var error: ProxyHeaderError?
        var taken = 0
    }

    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let outcomes = input.arrivals.map(outcome)
        let whole = outcomes[0]
        for other in outcomes.dropFirst() {
            try require(other == whole, "another split is read otherwise: \(whole) \(other)")
        }
        let isBinary = input.content.first == 13
        try require(whole.taken <= (isBinary ? 16 + 65_535 : 107), "\(whole.taken) bytes are taken")
        guard let header = whole.header else { return }
        let bytes = Array(input.content.prefix(whole.taken))
        let plain = isBinary ? plainBinary(bytes) : plainLine(bytes)
        try require(plain == header, "a plain reading finds \(String(describing: plain)), not \(header)")
        if case .source(let address) = header {
            let again = outcome(of: [binary(address) + [1, 2, 3]])
            try require(again == Outcome(header: header, taken: 16 + 36), "written anew, it is \(again)")
        }
    }

    private static func outcome(of pieces: [[UInt8]]) -> Outcome {
        var parser = ProxyHeaderParser()
        var outcome = Outcome()
        for piece in pieces where outcome.header == nil && outcome.error == nil {
            withExactMemory(piece) { memory in
                var input = UnsafeRawBufferPointer(memory)
                do throws(ProxyHeaderError) {
                    outcome.header = try parser.next(&input)
                } catch {
                    outcome.error = error
                }
                outcome.taken += piece.count - input.count
            }
        }
        return outcome
    }

    private static func plainLine(_ bytes: [UInt8]) -> ProxyHeader? {
        let line = String(decoding: bytes, as: UTF8.self)
        guard line.utf8.elementsEqual(bytes) || line.hasPrefix("PROXY UNKNOWN") else { return nil }
        guard bytes.suffix(2) == [13, 10] else { return nil }
        let words = bytes.dropLast(2).split(separator: 32, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.first == "PROXY", words.count > 1 else { return nil }
        if words[1] == "UNKNOWN" { return .ownConnection }
        guard words.count == 6, words[1] == (words[2].contains(":") ? "TCP6" : "TCP4") else { return nil }
        return IPAddress(words[2]).map(ProxyHeader.source)
    }

    private static func plainBinary(_ bytes: [UInt8]) -> ProxyHeader? {
        guard bytes.count >= 16, bytes[12] >> 4 == 2, bytes.count == 16 + Int(bytes[14]) * 256 + Int(bytes[15]) else {
            return nil
        }
        guard bytes[12] == 0x21 else { return .ownConnection }
        let address = bytes.dropFirst(16)
        switch bytes[13] {
        case 0x11: return .source(IPAddress(ipv4: address.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }))
        case 0x21:
            let high = address.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let low = address.dropFirst(8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return .source(IPAddress(high: high, low: low))
        default: return .ownConnection
        }
    }

    /// Returns a header of version 2 for a connection from `address`.
    private static func binary(_ address: IPAddress) -> [UInt8] {
        let words = [address.high, address.low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
        let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
        return signature + [0x21, 0x21, 0, 36] + words + [UInt8](repeating: 0, count: 20)
    }
}
