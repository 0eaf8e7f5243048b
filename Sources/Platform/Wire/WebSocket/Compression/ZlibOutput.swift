import CZlib
import Glibc

/// Memory into which zlib writes: used over and over, given back when it has become large.
struct ZlibOutput: ~Copyable {
    /// Bytes of memory that are kept from one use to the next.
    static var kept: Int { 64 * 1024 }

    private var memory: UnsafeMutablePointer<UInt8>?
    private(set) var capacity = 0
    private(set) var count = 0

    init() {}

    deinit { free(memory) }

    /// What has been written; valid until the next change.
    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    mutating func clear() {
        count = 0
        guard capacity > Self.kept else { return }
        free(memory)
        memory = nil
        capacity = 0
    }

    /// Leaves the last `few` bytes off.
    mutating func dropLast(_ few: Int) {
        count = max(0, count - few)
    }

    /// Has `stream` write to the free memory behind what is there, at least one byte of it and none beyond `limit`.
    /// `false` when the system has no memory left.
    mutating func offer(to stream: UnsafeMutablePointer<z_stream>, upTo limit: Int) -> Bool {
        if count == capacity {
            // Doubles as bytes come: a limit alone takes no memory.
            let grown = max(count + 1, min(max(2 * capacity, 1024), limit))
            guard let moved = realloc(memory, grown) else { return false }
            memory = moved.assumingMemoryBound(to: UInt8.self)
            capacity = grown
        }
        stream.pointee.next_out = memory.map { $0 + count }
        stream.pointee.avail_out = UInt32(clamping: min(capacity, max(limit, count + 1)) - count)
        return true
    }

    /// Takes what `stream` wrote since it was offered memory.
    mutating func take(from stream: UnsafeMutablePointer<z_stream>) {
        guard let memory, let end = stream.pointee.next_out else { return }
        count = UnsafePointer(end) - UnsafePointer(memory)
    }
}
