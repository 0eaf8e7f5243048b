import Glibc

/// Bytes that never change, encoded once and sent to any number of sockets; freed when the last one has sent them.
///
/// A frame that is broadcast may be made with copies of itself behind it: a run of it then leaves as one piece of
/// memory, in one call.
package final class SharedBytes: @unchecked Sendable {
    // Sendable holds: the memory is written in `init` only, before anybody else has the object.

    /// The bytes, with their copies.
    let storage: UnsafeRawBufferPointer
    /// The length of one copy.
    package let count: Int
    /// Whether who is sent them may miss them, rather than be cut off, where more waits for it than may.
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
