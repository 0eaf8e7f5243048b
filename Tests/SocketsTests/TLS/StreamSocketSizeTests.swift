import Glibc
import TestSupport
import Testing

@testable import Sockets

@Suite struct StreamSocketSizeTests {
    /// From malloc.h, which Swift's Glibc module leaves out.
    private typealias UsableSize = @convention(c) (UnsafeMutableRawPointer?) -> Int

    @Test("A plain socket costs no more because it could be another: 136 bytes, one size of the allocator's")
    func size() async throws {
        try await SocketBench.run { bench in
            _ = try await bench.connect()
            let size = try await bench.withSocket { socket in
                let usableSize = unsafeBitCast(
                    try #require(dlsym(nil, "malloc_usable_size")), to: UsableSize.self)
                return usableSize(Unmanaged.passUnretained(socket).toOpaque())
            }
            #expect(size <= 136)
        }
    }
}
