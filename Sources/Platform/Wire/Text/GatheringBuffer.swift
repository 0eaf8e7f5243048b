import Glibc

/// Bytes that are gathered piece by piece. Unlike an array's, they don't move between two appends.
struct GatheringBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private(set) var count = 0

    init() {}

    deinit { free(memory) }

    /// The gathered bytes; valid until the next append.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// Appends `piece`. The memory doubles as bytes arrive, up to `atMost`, so an announced length alone takes no
    /// memory. Returns `false` if memory is exhausted.
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
