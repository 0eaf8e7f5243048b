import Glibc
import TestSupport
import Testing

@testable import Sockets

@Suite struct StreamSocketSizeTests {
    /// From malloc.h, which Swift's Glibc module leaves out.
    private typealias UsableSize = @convention(c) (UnsafeMutableRawPointer?) -> Int

    @Test("A plain socket takes 136 bytes, one size class of the allocator")
    func size() async throws {
        try await SocketBench.run { bench in
            // The allocator may reuse a larger block. So the smallest of many sizes is the size of a socket.
            var (least, clients) = (Int.max, [RawConnection]())
            for _ in 0..<32 {
                clients.append(try await bench.connect())
                let size = try await bench.withSocket { socket in
                    let usableSize = unsafeBitCast(
                        try #require(dlsym(nil, "malloc_usable_size")), to: UsableSize.self)
                    return usableSize(Unmanaged.passUnretained(socket).toOpaque())
                }
                least = min(least, size)
            }
            #expect(least <= 136)
        }
    }
}
