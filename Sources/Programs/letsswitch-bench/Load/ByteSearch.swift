import Glibc

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first occurrence; `nil` if there is none.
    func offset(of needle: [UInt8]) -> Int? {
        guard let base = baseAddress, let first = needle.first, count >= needle.count else { return nil }
        var from = 0
        while let candidate = memchr(base + from, Int32(first), count - from) {
            let offset = UnsafeRawPointer(candidate) - base
            guard count - offset >= needle.count else { return nil }
            if memcmp(candidate, needle, needle.count) == 0 { return offset }
            from = offset + 1
        }
        return nil
    }
}
