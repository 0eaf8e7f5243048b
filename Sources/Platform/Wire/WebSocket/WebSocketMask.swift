/// The mask of a client's payload (RFC 6455 §5.3): four bytes, which are repeated and combined with the payload by XOR.
package struct WebSocketMask: Sendable, Hashable {
    /// The four bytes, the first in the lowest bits.
    private let key: UInt32

    /// Creates a mask of four bytes. The bytes must be random, from a strong source, and new for each frame (§10.3).
    package init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        key = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
    }

    package var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: key >> (8 * $0)) } }

    /// Masks or unmasks `payload` in place. `offset` is the number of bytes of the frame's payload before it.
    package func apply(to payload: UnsafeMutableRawBufferPointer, offset: Int = 0) {
        let shift = UInt32(truncatingIfNeeded: offset & 3) * 8
        let turned = shift == 0 ? key : key >> shift | key << (32 - shift)
        let word = UInt64(turned) << 32 | UInt64(turned)
        var index = 0
        while index &+ 8 <= payload.count {
            let masked = UInt64(littleEndian: payload.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ word
            payload.storeBytes(of: masked.littleEndian, toByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < payload.count {
            payload[index] ^= UInt8(truncatingIfNeeded: word >> (8 * UInt64(index & 7)))
            index &+= 1
        }
    }
}
