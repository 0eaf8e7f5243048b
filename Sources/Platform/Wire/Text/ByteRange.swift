/// The position of a part of a head. It has two numbers of 16 bits, because `HTTPLimits` keeps heads below 64 KiB. A
/// field therefore takes only 8 bytes.
struct ByteRange: Sendable, Equatable {
    var start: UInt16
    var end: UInt16

    static let none = ByteRange(start: 0, end: 0)

    init(start: UInt16, end: UInt16) {
        self.start = start
        self.end = end
    }

    init(_ range: Range<Int>) {
        start = UInt16(truncatingIfNeeded: range.lowerBound)
        end = UInt16(truncatingIfNeeded: range.upperBound)
    }

    var range: Range<Int> { Int(start)..<max(Int(start), Int(end)) }
    var isEmpty: Bool { start >= end }
}

extension UnsafeRawBufferPointer {
    /// Returns a part of the buffer. The indices of the part begin with zero.
    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }

    /// Removes the first `count` bytes and returns them.
    mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
        let taken = part(0..<count)
        self = part(count..<self.count)
        return taken
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Removes the first `count` bytes and returns them.
    mutating func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let taken = UnsafeMutableRawBufferPointer(rebasing: self[..<count])
        self = UnsafeMutableRawBufferPointer(rebasing: self[count...])
        return taken
    }
}
