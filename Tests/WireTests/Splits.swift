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

/// The ways in which bytes may arrive: whole, one at a time, in two at every place, and in random pieces.
func arrivals(of bytes: [UInt8], random count: Int = 20) -> [[[UInt8]]] {
    var ways: [[[UInt8]]] = [[bytes], bytes.map { [$0] }]
    for place in 0...bytes.count { ways.append([Array(bytes[..<place]), Array(bytes[place...])]) }
    var random = SeededRandom(seed: UInt64(bytes.count))
    for _ in 0..<count {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = Int.random(in: 0...min(rest.count, 12), using: &random)
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        ways.append(pieces)
    }
    return ways
}

/// Calls `body` with the bytes in memory of exactly their size, where reading or writing beside them is found by a sanitizer.
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
