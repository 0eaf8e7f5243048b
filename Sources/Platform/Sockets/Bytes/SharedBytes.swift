import Glibc

/// Immutable bytes, encoded once and sent to any number of sockets. They are freed after the last socket has sent them.
///
/// The memory may contain several copies of a broadcast frame. Several repetitions are then sent as one piece of memory
/// in one call.
package final class SharedBytes: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the memory is written only in `init`, before any other code has the object.

    /// All copies of the bytes, one after another.
    let storage: UnsafeRawBufferPointer
    /// The length of one copy.
    package let count: Int
    /// Whether these bytes may be left out for a slow peer. Otherwise the socket is closed when its queue exceeds its
    /// limit.
    let mayBeLeftOut: Bool

    /// Creates the object with `copies` copies of `bytes`, at least one.
    package convenience init(_ bytes: some Collection<UInt8>, copies: Int = 1, mayBeLeftOut: Bool = false) {
        self.init(Array(bytes), copies: copies, mayBeLeftOut: mayBeLeftOut)
    }

    /// Creates the object with `copies` copies of `bytes`, at least one.
    package init(_ bytes: [UInt8], copies: Int = 1, mayBeLeftOut: Bool = false) {
        self.mayBeLeftOut = mayBeLeftOut
        let copies = max(1, copies)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count * copies), alignment: 1)
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for copy in 0..<copies {
                memory.baseAddress?.advanced(by: copy * bytes.count).copyMemory(from: start, byteCount: bytes.count)
            }
        }
        storage = UnsafeRawBufferPointer(rebasing: memory[..<(bytes.count * copies)])
        allocation = memory
        count = bytes.count
    }

    private let allocation: UnsafeMutableRawBufferPointer

    deinit {
        allocation.deallocate()
    }
}
