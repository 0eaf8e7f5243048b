/// SplitMix64: the same numbers in every run, so a failure can be repeated.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Returns the ways in which bytes may arrive: whole, one at a time, in two at every place, and in random pieces.
func arrivals(of bytes: [UInt8], random count: Int = 20) -> [[[UInt8]]] {
    var ways: [[[UInt8]]] = [[bytes], bytes.map { [$0] }]
    for place in 0...bytes.count { ways.append([Array(bytes[..<place]), Array(bytes[place...])]) }
    var random = SeededRandom(seed: UInt64(bytes.count))
    for _ in 0..<count { ways.append(randomPieces(of: bytes, using: &random)) }
    return ways
}

/// Returns small random pieces of the bytes, some of them empty.
func randomPieces(of bytes: [UInt8], using random: inout SeededRandom) -> [[UInt8]] {
    let longest = max(12, bytes.count / 40)
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let length = Int.random(in: 0...min(rest.count, longest), using: &random)
        pieces.append(Array(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    return pieces
}

/// Calls `body` with the bytes in memory of exactly their size. A sanitizer then detects reads and writes outside them.
func withExactMemory<Result>(_ bytes: [UInt8], _ body: (UnsafeMutableRawBufferPointer) throws -> Result) rethrows
    -> Result
{
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    return try body(memory)
}

extension [UInt8] {
    init(hex: String) {
        self = hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }
}

/// Returns `bytes` with up to four of them changed, doubled or left out. Parsers fail most easily on input that is
/// nearly valid.
func damaged(_ bytes: [UInt8], using random: inout SeededRandom) -> [UInt8] {
    let telling: [UInt8] = [
        0, 9, 10, 13, 32, 37, 43, 44, 48, 53, 58, 59, 0x7E, 0x7F, 0x80, 0x81, 0xC1, 0xED, 0xFE, 0xFF,
    ]
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = telling.randomElement(using: &random) ?? 0
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.remove(at: place)
        default: bytes.insert(bytes[place], at: place)
        }
    }
    return bytes
}

/// Returns the bytes whole, one at a time, and in random pieces. This is for many inputs, where every way of splitting
/// takes too long.
func someArrivals(of bytes: [UInt8], using random: inout SeededRandom) -> [[[UInt8]]] {
    let cuts = (0..<4).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
    let places = [0] + cuts + [bytes.count]
    return [[bytes], bytes.map { [$0] }, zip(places, places.dropFirst()).map { Array(bytes[$0..<$1]) }]
}
