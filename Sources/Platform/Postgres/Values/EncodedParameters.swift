import Glibc

/// Parameters in libpq's form, with all values in one buffer. The caller's thread encodes them, so that the pool's
/// queue only has to pass them on.
struct EncodedParameters: Sendable {
    /// The maximum number of parameters. The protocol counts them in 16 bits.
    static let maximumCount = 65_535

    private var bytes: [UInt8] = []
    /// The offset of each value in `bytes`, or `nil` for NULL.
    private var offsets: [Int?] = []
    /// The indices and lengths of binary values. libpq needs a length only for these, because a text value ends with a
    /// zero byte.
    private var binary: [(index: Int, length: Int32)] = []

    /// Encodes parameters. Throws `.invalidParameter` if a text contains U+0000, or if there are too many parameters.
    init(_ parameters: [PostgresParameter]) throws {
        guard parameters.count <= Self.maximumCount else {
            throw PostgresError(
                kind: .invalidParameter, message: "\(parameters.count) parameters; \(Self.maximumCount) are possible")
        }
        offsets.reserveCapacity(parameters.count)
        for (index, parameter) in parameters.enumerated() {
            let start = bytes.count
            switch parameter.write(to: &bytes) {
            case .null:
                offsets.append(nil)
                continue
            case .binary:
                binary.append((index, Int32(clamping: bytes.count - start)))
            case .text:
                guard !Self.hasZero(bytes, from: start) else {
                    throw PostgresError(
                        kind: .invalidParameter,
                        message: "parameter $\(index + 1) contains U+0000, which can't be stored")
                }
                bytes.append(0)
            }
            offsets.append(start)
        }
    }

    private static func hasZero(_ bytes: [UInt8], from start: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress else { return false }
            return memchr(base + start, 0, bytes.count - start) != nil
        }
    }

    /// Creates a single parameter: a setting in milliseconds.
    init(milliseconds duration: Duration) {
        bytes = Array("\(SessionSettings.milliseconds(duration))".utf8) + [0]
        offsets = [0]
    }

    var count: Int32 { Int32(offsets.count) }

    /// Calls `body` with the arrays for `PQsendQueryPrepared`: values, lengths, and formats (0 for text, 1 for binary).
    /// The pointers are valid only during the call. libpq copies the values.
    func withPointers<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> R
    ) -> R {
        bytes.withUnsafeBytes { raw in
            let base = raw.bindMemory(to: CChar.self).baseAddress
            let pointers = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            return pointers.withUnsafeBufferPointer { pointers in
                guard !binary.isEmpty else { return body(pointers.baseAddress, nil, nil) }
                var lengths = [Int32](repeating: 0, count: offsets.count)
                var formats = lengths
                for (index, length) in binary { (lengths[index], formats[index]) = (length, 1) }
                return lengths.withUnsafeBufferPointer { lengths in
                    formats.withUnsafeBufferPointer { body(pointers.baseAddress, lengths.baseAddress, $0.baseAddress) }
                }
            }
        }
    }
}
