/// Parameters as libpq takes them: C strings one after another in one buffer, encoded where the caller runs so that the
/// pool's queue only hands them on.
struct EncodedParameters: Sendable {
    /// The protocol counts parameters in 16 bits.
    static let maximumCount = 65_535

    private var bytes: [UInt8] = []
    /// Where each value begins in `bytes`; nil for NULL.
    private var offsets: [Int?] = []

    /// Throws `.invalidParameter` for text with U+0000 and for too many parameters.
    init(_ parameters: [PostgresParameter]) throws {
        guard parameters.count <= Self.maximumCount else {
            throw PostgresError(
                kind: .invalidParameter, message: "\(parameters.count) parameters; \(Self.maximumCount) are possible")
        }
        offsets.reserveCapacity(parameters.count)
        for (index, parameter) in parameters.enumerated() {
            let start = bytes.count
            guard parameter.write(to: &bytes) else {
                offsets.append(nil)
                continue
            }
            offsets.append(start)
            guard !bytes[start...].contains(0) else {
                throw PostgresError(
                    kind: .invalidParameter, message: "parameter $\(index + 1) contains U+0000, which can't be stored")
            }
            bytes.append(0)
        }
    }

    /// One parameter: a setting that counts milliseconds.
    init(milliseconds duration: Duration) {
        bytes = Array("\(SessionSettings.milliseconds(duration))".utf8) + [0]
        offsets = [0]
    }

    var count: Int32 { Int32(offsets.count) }

    /// The pointers live as long as the call; libpq copies what they point to.
    func withPointers<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
        bytes.withUnsafeBytes { raw in
            let base = raw.bindMemory(to: CChar.self).baseAddress
            let pointers = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
        }
    }
}
