import FoundationEssentials

/// Writes numbers and UUIDs as bytes of a packet, little-endian.
struct PacketWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ id: UUID) {
        withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
    }
}

/// Reads numbers and UUIDs from the bytes of a packet. A packet that ends too early is malformed.
struct PacketReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { index == bytes.count }

    mutating func byte() throws(RelayMessage.Failure) -> UInt8 {
        try number()
    }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>() throws(RelayMessage.Failure) -> Number {
        Number(littleEndian: try value(as: Number.self))
    }

    mutating func room() throws(RelayMessage.Failure) -> UUID {
        UUID(uuid: try value(as: uuid_t.self))
    }

    private mutating func value<Value: BitwiseCopyable>(as type: Value.Type) throws(RelayMessage.Failure) -> Value {
        let size = MemoryLayout<Value>.size
        guard bytes.count - index >= size else { throw .malformed }
        defer { index += size }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: type) }
    }
}
