import Foundation

/// A JSON value that is read by name and index, and written as a literal: `["deviceId": "a", "debug": false]`,
/// `response.json()["schedule"][1]["hasOwnTask"].bool`.
package enum TestJSON: Sendable, Equatable {
    case object([String: TestJSON])
    case array([TestJSON])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null
    /// A missing member. It is never encoded.
    case absent

    /// Parses `bytes` strictly: one value, and nothing after it.
    package init(parsing bytes: [UInt8]) throws {
        do {
            self = try JSONDecoder().decode(TestJSON.self, from: Data(bytes))
        } catch {
            throw ClientFailure.violation("no JSON: \(ReceivedBytes.preview(bytes)) (\(error))")
        }
    }

    /// Encodes the value with sorted members and without escaping slashes.
    package func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// The member of an object; `.absent` if this isn't an object or has no such member.
    package subscript(name: String) -> TestJSON {
        guard case .object(let members) = self else { return .absent }
        return members[name] ?? .absent
    }

    /// The element of an array; `.absent` if this isn't an array or is shorter.
    package subscript(index: Int) -> TestJSON {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return .absent }
        return elements[index]
    }

    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var number: Double? { if case .number(let value) = self { value } else { nil } }
    package var int: Int? { number.flatMap { Int(exactly: $0) } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [TestJSON]? { if case .array(let value) = self { value } else { nil } }
    package var object: [String: TestJSON]? { if case .object(let value) = self { value } else { nil } }
    package var isAbsent: Bool { self == .absent }
}

extension TestJSON: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([TestJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: TestJSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let members): try container.encode(members.filter { $0.value != .absent })
        case .array(let elements): try container.encode(elements)
        case .string(let value): try container.encode(value)
        case .number(let value):
            if let whole = Int(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
        case .bool(let value): try container.encode(value)
        case .null, .absent: try container.encodeNil()
        }
    }
}

extension TestJSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    package init(dictionaryLiteral elements: (String, TestJSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    package init(arrayLiteral elements: TestJSON...) { self = .array(elements) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
}
