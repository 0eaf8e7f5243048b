/// Validates UTF-8 (RFC 3629) as bytes arrive.
///
/// Overlong forms, surrogates and values above U+10FFFF are refused at the first byte that can't be part of a valid
/// sequence. A peer is therefore notified of its error early (RFC 6455 §8.1). The result doesn't depend on where the
/// bytes are split. The state has three bytes.
package struct UTF8Validator: Sendable, Equatable {
    /// The number of missing continuation bytes.
    private var missing: UInt8 = 0
    /// The lower bound of the next continuation byte. A second byte that is out of its bounds shows an overlong form, a
    /// surrogate or a value that is too large.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    package init() {}

    /// Whether the bytes until now don't end within a sequence.
    package var isComplete: Bool { missing == 0 }

    /// Whether `bytes` are complete, valid UTF-8.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var validator = UTF8Validator()
        return validator.append(bytes) && validator.isComplete
    }

    /// Validates the next bytes. Returns `false` if the text can't become valid any more. Don't use the validator after
    /// it has returned `false`.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            if missing == 0 {
                // While all bytes are ASCII, eight are checked at a time, because most messages are ASCII.
                while index &+ 8 <= count,
                    bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index &+= 8
                }
                if index == count { return true }
                let byte = bytes[index]
                index &+= 1
                if byte >= 0x80, !begin(with: byte) { return false }
            } else {
                let byte = bytes[index]
                index &+= 1
                guard byte >= lowest, byte <= highest else { return false }
                missing &-= 1
                lowest = 0x80
                highest = 0xBF
            }
        }
        return true
    }

    /// Begins a sequence. The first byte determines the number of continuation bytes, and the range of the first of
    /// these (RFC 3629 §4).
    private mutating func begin(with lead: UInt8) -> Bool {
        switch lead {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lowest) = (2, 0xA0)
        case 0xED: (missing, highest) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lowest) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        case 0xF4: (missing, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
