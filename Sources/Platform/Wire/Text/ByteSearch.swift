import Glibc

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first `byte` in `range`. Uses `memchr`.
    func firstOffset(of byte: UInt8, in range: Range<Int>) -> Int? {
        guard !range.isEmpty, let base = baseAddress,
            let found = memchr(base + range.lowerBound, Int32(byte), range.count)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    func firstOffset(of byte: UInt8) -> Int? {
        firstOffset(of: byte, in: 0..<count)
    }

    func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count > 0, let base = baseAddress, let otherBase = other.baseAddress else { return true }
        return memcmp(base, otherBase, count) == 0
    }
}
