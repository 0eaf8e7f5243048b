import Basics
import CRabbitMQ
import Glibc

/// A value of a field in a librabbitmq table. The cases `text`, `table` and `array` point to memory that they don't
/// own. They are valid only in the closure that received them, for example in that of ``AMQPSession/withTable(_:_:)``.
enum AMQPField {
    case boolean(Bool)
    case integer(Int)
    case text(amqp_bytes_t)
    case table(amqp_table_t)
    case array(amqp_array_t)

    fileprivate var value: amqp_field_value_t {
        var field = amqp_field_value_t()
        switch self {
        case .boolean(let value):
            field.kind = UInt8(AMQP_FIELD_KIND_BOOLEAN.rawValue)
            field.value.boolean = value ? 1 : 0
        case .integer(let value):
            field.kind = UInt8(AMQP_FIELD_KIND_I64.rawValue)
            field.value.i64 = Int64(value)
        case .text(let value):
            field.kind = UInt8(AMQP_FIELD_KIND_UTF8.rawValue)
            field.value.bytes = value
        case .table(let value):
            field.kind = UInt8(AMQP_FIELD_KIND_TABLE.rawValue)
            field.value.table = value
        case .array(let value):
            field.kind = UInt8(AMQP_FIELD_KIND_ARRAY.rawValue)
            field.value.array = value
        }
        return field
    }
}

extension AMQPSession {
    static func withTable<Value>(_ fields: [(StaticString, AMQPField)], _ body: (amqp_table_t) -> Value) -> Value {
        var entries = fields.map { key, field in
            amqp_table_entry_t(
                key: amqp_bytes_t(len: key.utf8CodeUnitCount, bytes: UnsafeMutableRawPointer(mutating: key.utf8Start)),
                value: field.value)
        }
        return entries.withUnsafeMutableBufferPointer { entries in
            body(amqp_table_t(num_entries: Int32(entries.count), entries: entries.baseAddress))
        }
    }

    static func withTexts<Value>(_ texts: [String], _ body: (amqp_array_t) -> Value) -> Value {
        // All texts are copied into one buffer. Otherwise each text would need a nested closure of its own.
        let bytes = texts.flatMap { Array($0.utf8) }
        return bytes.withUnsafeBytes { bytes in
            var start = 0
            var entries = texts.map { text in
                defer { start += text.utf8.count }
                let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + text.utf8.count])
                return AMQPField.text(amqp_bytes_t(part)).value
            }
            return entries.withUnsafeMutableBufferPointer { entries in
                body(amqp_array_t(num_entries: Int32(entries.count), entries: entries.baseAddress))
            }
        }
    }
}

extension String {
    /// Calls `body` with the bytes of this text. librabbitmq only reads them.
    func withAMQPBytes<Value>(_ body: (amqp_bytes_t) throws -> Value) rethrows -> Value {
        var text = self
        return try text.withUTF8 { try body(amqp_bytes_t(UnsafeRawBufferPointer($0))) }
    }

    init(_ bytes: amqp_bytes_t) {
        self.init(
            decoding: UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.bytes == nil ? 0 : bytes.len),
            as: UTF8.self)
    }
}

extension amqp_bytes_t {
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(len: bytes.count, bytes: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension timeval {
    /// Converts a duration, to at least a microsecond: zero would mean not to wait at all.
    init(_ duration: Duration) {
        let microseconds = max(1, Int(clamping: duration.wholeNanoseconds / 1_000))
        self.init(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
    }
}
