import CZlib
import Glibc

/// The memory that zlib writes to. It is used again, but freed when it has become large.
struct ZlibOutput: ~Copyable {
    /// The maximum number of bytes of memory that are kept between two uses.
    static var kept: Int { 64 * 1024 }

    private var memory: UnsafeMutablePointer<UInt8>?
    private(set) var capacity = 0
    private(set) var count = 0

    init() {}

    deinit { free(memory) }

    /// The bytes that were written. They are valid until the next change.
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

    /// Removes the last `few` bytes.
    mutating func dropLast(_ few: Int) {
        count = max(0, count - few)
    }

    /// Gives `stream` the free memory behind the written bytes: at least one byte, and none beyond `limit`. Returns
    /// `false` if memory is exhausted.
    mutating func offer(to stream: UnsafeMutablePointer<z_stream>, upTo limit: Int) -> Bool {
        if count == capacity {
            // The memory doubles as bytes arrive. A high limit alone therefore uses no memory.
            let grown = max(count + 1, min(max(2 * capacity, 1024), limit))
            guard let moved = realloc(memory, grown) else { return false }
            memory = moved.assumingMemoryBound(to: UInt8.self)
            capacity = grown
        }
        stream.pointee.next_out = memory.map { $0 + count }
        stream.pointee.avail_out = UInt32(clamping: min(capacity, max(limit, count + 1)) - count)
        return true
    }

    /// Adds the bytes that `stream` wrote.
    mutating func take(from stream: UnsafeMutablePointer<z_stream>) {
        guard let memory, let end = stream.pointee.next_out else { return }
        count = UnsafePointer(end) - UnsafePointer(memory)
    }
}
