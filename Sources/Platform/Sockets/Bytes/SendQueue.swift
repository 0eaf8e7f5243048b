import Glibc

/// What a socket still has to send, in order.
///
/// A value that touches no socket: bytes go in, pieces of memory come out, and what the kernel took is dropped from the
/// front. The same bytes enqueued again right behind themselves (a frame that is broadcast several times within a
/// turn) become a longer run of one segment, so a room's burst costs one counter a receiver. With one segment,
/// the usual case, the queue owns no memory.
struct SendQueue: Sendable {
    private struct Segment {
        let bytes: SharedBytes
        /// Where the unsent part begins, in the endless repetition of `bytes`.
        var start: Int
        var end: Int

        /// Takes out of the end what isn't begun, if that may be left out, until that is so many bytes.
        ///
        /// - Returns: How many times the bytes are taken out.
        mutating func leaveOut(_ excess: Int) -> Int {
            guard bytes.mayBeLeftOut else { return 0 }
            let whole = end / bytes.count - (start + bytes.count - 1) / bytes.count
            let count = min(whole, (excess + bytes.count - 1) / bytes.count)
            end -= count * bytes.count
            return count
        }
    }

    private var first: Segment?
    private var rest: [Segment] = []
    /// Bytes not sent.
    private(set) var byteCount = 0
    /// Segments of `rest` that were taken already, never more than a few dozen. Small and last, so that what a socket
    /// keeps beside its queue has room behind it.
    private var taken: UInt8 = 0

    init() {}

    var isEmpty: Bool { byteCount == 0 }

    /// Memory that the queue holds on to, nearly: a hundred pongs of two bytes take far more than two hundred. A run
    /// counts with all its bytes, though they are in memory once.
    var heldBytes: Int { byteCount &+ (rest.count &- Int(taken)) &* Self.segmentBytes }

    /// What a segment takes beside its bytes: itself, the object that it names, and two allocations.
    private static let segmentBytes = 96

    /// Puts `bytes` at the end, `times` over.
    mutating func append(_ bytes: SharedBytes, times: Int = 1) {
        let length = bytes.count * times
        guard length > 0 else { return }
        byteCount += length
        guard first != nil else {
            first = Segment(bytes: bytes, start: 0, end: length)
            return
        }
        if rest.count > Int(taken) {
            if rest[rest.count - 1].bytes === bytes {
                rest[rest.count - 1].end += length
            } else {
                rest.append(Segment(bytes: bytes, start: 0, end: length))
            }
        } else if first?.bytes === bytes {
            first?.end += length
        } else {
            rest.append(Segment(bytes: bytes, start: 0, end: length))
        }
    }

    /// Writes the next pieces to `vectors`, as many as fit, and gives back how many they are. They stay valid until the
    /// queue changes.
    func gather(into vectors: UnsafeMutableBufferPointer<iovec>) -> Int {
        guard let first else { return 0 }
        var filled = Self.gather(first, into: vectors, from: 0)
        var next = Int(taken)
        while next < rest.count, filled < vectors.count {
            filled = Self.gather(rest[next], into: vectors, from: filled)
            next += 1
        }
        return filled
    }

    private static func gather(
        _ segment: Segment, into vectors: UnsafeMutableBufferPointer<iovec>, from index: Int
    ) -> Int {
        let storage = segment.bytes.storage
        var index = index
        var position = segment.start
        while position < segment.end, index < vectors.count {
            let offset = position % segment.bytes.count
            let length = min(segment.end - position, storage.count - offset)
            vectors[index] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: storage.baseAddress?.advanced(by: offset)),
                iov_len: length)
            position += length
            index += 1
        }
        return index
    }

    /// Takes out what may be left out, the newest first and never a part of it, until that is `excess` bytes of ``heldBytes``.
    ///
    /// - Returns: How many pieces were taken out; perhaps of fewer bytes.
    mutating func leaveOut(_ excess: Int) -> Int {
        let goal = heldBytes - excess
        var sum = 0
        for index in rest.indices.reversed() where index >= Int(taken) && heldBytes > goal {
            let left = heldBytes - goal
            let count = rest[index].leaveOut(left)
            byteCount -= count * rest[index].bytes.count
            sum += count
            if rest[index].start == rest[index].end { rest.remove(at: index) }
        }
        if heldBytes > goal, var segment = first {
            let count = segment.leaveOut(heldBytes - goal)
            first = segment
            byteCount -= count * segment.bytes.count
            sum += count
        }
        if byteCount == 0 { self = SendQueue() }
        return sum
    }

    /// Drops the first `count` bytes: the kernel has them.
    mutating func removeFirst(_ count: Int) {
        byteCount -= count
        if byteCount == 0 {
            first = nil
            if !rest.isEmpty { rest = [] }
            taken = 0
            return
        }
        var left = count
        while left > 0, let segment = first {
            let length = segment.end - segment.start
            guard left >= length else {
                first?.start += left
                return
            }
            left -= length
            if Int(taken) < rest.count {
                first = rest[Int(taken)]
                taken += 1
                if Int(taken) == rest.count || taken >= 64 {
                    rest.removeFirst(Int(taken))
                    taken = 0
                }
            } else {
                first = nil
            }
        }
    }
}
