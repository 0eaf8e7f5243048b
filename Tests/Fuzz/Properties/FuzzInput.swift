/// An input of the fuzzer: two bytes with options for reading, and then the content.
///
/// ```
/// options │ seed of the splits │ content …
/// ```
struct FuzzInput {
    /// Bits that choose limits, roles and parameters.
    let options: UInt8
    let content: [UInt8]
    private let seed: UInt8

    init(_ bytes: UnsafeRawBufferPointer) {
        options = bytes.first ?? 0
        seed = bytes.dropFirst().first ?? 0
        content = Array(bytes.dropFirst(2).prefix(FuzzTarget.longestInput))
    }

    func option(_ bit: UInt8) -> Bool { options >> bit & 1 == 1 }

    /// The ways in which the content may arrive: whole, byte by byte, and in random pieces.
    var arrivals: [[[UInt8]]] {
        [[content], content.map { [$0] }, randomPieces]
    }

    private var randomPieces: [[UInt8]] {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        var pieces: [[UInt8]] = []
        var rest = content[...]
        while !rest.isEmpty {
            // Marsaglia's xorshift: the pieces are the same for the same input.
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            let length = Int(state >> 33) % min(rest.count + 1, 2 + Int(seed & 63))
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}

/// Calls `body` with the bytes in memory of exactly their size, so that AddressSanitizer detects any access outside
/// them.
func withExactMemory<Result>(_ bytes: some Collection<UInt8>, _ body: (UnsafeMutableRawBufferPointer) -> Result)
    -> Result
{
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    return body(memory)
}
