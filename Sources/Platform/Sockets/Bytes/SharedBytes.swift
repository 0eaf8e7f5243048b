import Glibc

/// Immutable bytes, encoded once and sent to any number of sockets. They are freed after the last socket has sent them.
///
/// A broadcast frame may be followed by copies of itself. Several frames then leave as one piece of memory in one call.
package final class SharedBytes: @unchecked Sendable {
    // Sendable is safe: the memory is written only in `init`, before any other code has the object.

    /// The bytes and their copies.
    let storage: UnsafeRawBufferPointer
    /// The length of one copy.
    package let count: Int
    /// Whether a slow peer may miss these bytes. Otherwise the socket is closed when its queue exceeds its limit.
    let mayBeLeftOut: Bool

    /// Copies `bytes`, `copies` times over (at least once).
    package convenience init(_ bytes: some Collection<UInt8>, copies: Int = 1, mayBeLeftOut: Bool = false) {
        self.init(Array(bytes), copies: copies, mayBeLeftOut: mayBeLeftOut)
    }

    /// Copies `bytes`, `copies` times over (at least once).
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
