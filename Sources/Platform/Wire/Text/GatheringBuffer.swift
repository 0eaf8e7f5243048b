import Glibc

/// Bytes that are gathered piece by piece. Unlike the bytes of an array, they don't move between two appends.
struct GatheringBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private(set) var count = 0

    init() {}

    deinit { free(memory) }

    /// The gathered bytes. They are valid until the next append.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// Appends `piece`. The memory grows by doubling as bytes arrive, up to `atMost`. An announced length alone
    /// therefore uses no memory. Returns `false` if memory is exhausted.
    mutating func append(_ piece: UnsafeRawBufferPointer, atMost: Int) -> Bool {
        guard let source = piece.baseAddress, piece.count > 0 else { return true }
        let needed = count + piece.count
        if needed > capacity {
            let grown = max(needed, min(2 * capacity, atMost))
            guard let moved = realloc(memory, grown) else { return false }
            memory = moved
            capacity = grown
        }
        guard let memory else { return false }
        memcpy(memory + count, source, piece.count)
        count = needed
        return true
    }
}
