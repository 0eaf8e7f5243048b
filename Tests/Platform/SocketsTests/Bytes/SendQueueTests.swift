import Glibc
import Testing

@testable import Sockets

@Suite struct SendQueueTests {
    /// Returns the bytes of the next pieces, at most `limit` pieces.
    private static func gathered(_ queue: SendQueue, atMost limit: Int) -> [UInt8] {
        let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: limit)
        defer { vectors.deallocate() }
        return vectors[..<queue.gather(into: vectors)].flatMap {
            Array(UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len))
        }
    }

    @Test("Bytes leave in order, even if the kernel accepts little", arguments: 0..<100)
    func order(seed: Int) {
        var random = SeededGenerator(seed: seed)
        // There are only four objects, so repeated ones are frequent. One of them is empty.
        let kinds = (0..<4).map { kind in
            let bytes = (0..<(kind * 3)).map { UInt8(kind * 50 + $0) }
            return (bytes, SharedBytes(bytes, copies: Int.random(in: 0...5, using: &random)))
        }
        var queue = SendQueue()
        var model: [UInt8] = []
        for _ in 0..<400 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                guard let (bytes, shared) = kinds.randomElement(using: &random) else { continue }
                let times = Int.random(in: 1...3, using: &random)
                queue.append(shared, times: times)
                for _ in 0..<times { model += bytes }
            } else {
                let offered = Self.gathered(queue, atMost: Int.random(in: 1...8, using: &random))
                #expect(model.starts(with: offered))
                #expect(offered.isEmpty == model.isEmpty)
                let taken = Int.random(in: 0...offered.count, using: &random)
                queue.removeFirst(taken)
                model.removeFirst(taken)
            }
            #expect(queue.byteCount == model.count)
            #expect(queue.isEmpty == model.isEmpty)
            #expect(queue.heldBytes >= queue.byteCount)
        }
        #expect(Self.gathered(queue, atMost: 2000) == model)
    }

    @Test("Optional frames are left out whole, the newest first")
    func leavesOut() {
        let (ale, word) = (SharedBytes([1, 2, 3], copies: 4, mayBeLeftOut: true), SharedBytes([7, 8]))
        let other = SharedBytes([4, 5, 6], mayBeLeftOut: true)
        var queue = SendQueue()
        for (bytes, times) in [(ale, 3), (word, 1), (other, 2), (word, 1), (ale, 4)] {
            queue.append(bytes, times: times)
        }
        // The kernel has taken the first object and a part of the second.
        queue.removeFirst(4)
        let before = queue.heldBytes
        #expect(queue.leaveOut(4) == 2)
        #expect(queue.heldBytes == before - 6)
        #expect(Self.gathered(queue, atMost: 50) == [2, 3, 1, 2, 3, 7, 8, 4, 5, 6, 4, 5, 6, 7, 8, 1, 2, 3, 1, 2, 3])
        // When the rest of a run is left out, the memory of the run's entry is released too.
        #expect(queue.leaveOut(10) == 2)
        #expect(queue.heldBytes < before - 100)
        #expect(queue.leaveOut(10_000) == 3)
        #expect(Self.gathered(queue, atMost: 50) == [2, 3, 7, 8, 7, 8])
        #expect(queue.byteCount == 6)
        #expect(queue.leaveOut(10_000) == 0)
        queue.append(ale)
        queue.removeFirst(3)
        #expect(Self.gathered(queue, atMost: 50) == [8, 7, 8, 1, 2, 3])
        var ales = SendQueue()
        ales.append(ale, times: 2)
        #expect(ales.leaveOut(1_000) == 2)
        #expect(ales.isEmpty && Self.gathered(ales, atMost: 50).isEmpty)
        ales.append(word)
        #expect(Self.gathered(ales, atMost: 50) == [7, 8])
    }

    @Test("A run of a frame with copies leaves in few pieces")
    func run() {
        let frame = SharedBytes([1, 2, 3], copies: 4)
        var queue = SendQueue()
        for _ in 0..<8 { queue.append(frame) }
        queue.removeFirst(1)
        let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 8)
        defer { vectors.deallocate() }
        #expect(queue.gather(into: vectors) == 2)
        #expect(vectors.prefix(2).map(\.iov_len) == [11, 12])
        #expect(queue.heldBytes == queue.byteCount)
    }

    @Test("Many small pieces count for the memory they use")
    func heldBytes() {
        var queue = SendQueue()
        for index in 0..<1000 { queue.append(SharedBytes([0x8A, UInt8(index & 0x7F)])) }
        #expect(queue.byteCount == 2000)
        #expect(queue.heldBytes > 50_000)
        queue.removeFirst(1998)
        #expect(queue.heldBytes == 2)
    }

    @Test("A copy of the queue is independent")
    func valueSemantics() {
        var queue = SendQueue()
        queue.append(SharedBytes([1, 2]))
        var other = queue
        other.append(SharedBytes([3]))
        other.removeFirst(1)
        #expect(Self.gathered(queue, atMost: 4) == [1, 2])
        #expect(Self.gathered(other, atMost: 4) == [2, 3])
    }
}
