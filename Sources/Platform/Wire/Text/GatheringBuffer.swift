import Glibc

/// Bytes that are gathered piece by piece and stay where they are between two appends, which an array's don't promise.
struct GatheringBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private(set) var count = 0

    init() {}

    deinit { free(memory) }

    /// What has been gathered; valid until the next append.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// Adds `piece`. The memory doubles as bytes arrive, but for not more than `atMost` when so many are all that can come:
    /// an announced length alone takes none. `false` when the system has no memory left.
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
