import Glibc

/// The unsent bytes of a socket, in order.
///
/// A value type without I/O. ``append(_:times:)`` adds bytes. ``gather(into:)`` returns pieces of memory to send.
/// ``removeFirst(_:)`` drops the bytes that the kernel has taken. If the same bytes are appended several times in a
/// row, they share one segment, whose `end` grows. Repeated copies of one broadcast frame therefore take no further
/// memory. With one segment, the usual case, the queue allocates no memory.
struct SendQueue: Sendable {
    private struct Segment {
        let bytes: SharedBytes
        /// The beginning of the unsent part. An offset from the start of the first repetition of `bytes`.
        var start: Int
        var end: Int

        /// Removes whole unsent repetitions from the end, until at least `excess` bytes are removed or no such
        /// repetition is left. Removes nothing if ``SharedBytes/mayBeLeftOut`` is `false`.
        ///
        /// - Returns: The number of removed repetitions.
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
    /// The number of unsent bytes.
    private(set) var byteCount = 0
    /// The number of segments at the start of `rest` that are already sent, at most a few dozen. The field is small and
    /// last, so that fields of the socket fit into the space behind it.
    private var taken: UInt8 = 0

    init() {}

    var isEmpty: Bool { byteCount == 0 }

    /// The approximate memory that the queue holds. This is more than the number of bytes: a hundred pongs of two bytes
    /// take far more than 200 bytes. A repeated segment counts with all its repetitions, although its bytes are in
    /// memory only once.
    var heldBytes: Int { byteCount &+ (rest.count &- Int(taken)) &* Self.segmentBytes }

    /// The memory of a segment without its bytes: the segment, its object, and the overhead of two allocations.
    private static let segmentBytes = 96

    /// Appends `bytes`, repeated `times` times.
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

    /// Writes the next pieces to `vectors` until it is full, and returns the number of pieces. The pieces are valid
    /// until the queue changes.
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

    /// Removes pieces whose ``SharedBytes/mayBeLeftOut`` is `true`, the newest first, until at least `excess` bytes of
    /// ``heldBytes`` are removed or no such piece is left. A piece that is sent in part stays.
    ///
    /// - Returns: The number of removed pieces.
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

    /// Drops the first `count` bytes, which the kernel has taken.
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
