import FoundationEssentials
import Wire

/// The members of a request's JSON object. What is missing or of the wrong type throws a `RequestError` that names it;
/// members that nobody asks for are ignored.
struct RequestMembers {
    private let container: KeyedDecodingContainer<Name>

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes a body and hands out what `Value` makes of it.
    static func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws(RequestError) -> Value {
        guard body.withUnsafeBytes(JSONSyntax.isValid) else { throw .invalid("The body is not JSON.") }
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch let error as RequestError {
            throw error
        } catch {
            throw .invalid("The body can't be decoded.")
        }
    }

    init(_ decoder: any Decoder) throws {
        do {
            container = try decoder.container(keyedBy: Name.self)
        } catch {
            throw RequestError.invalid("The body is not a JSON object.")
        }
    }

    func text(_ member: String) throws -> String {
        guard let text = try optionalText(member) else { throw RequestError.invalid(member, "is missing") }
        return text
    }

    /// Nil when it is missing or `null`.
    func optionalText(_ member: String) throws -> String? {
        try value(member, "must be a string") { try $0.decodeIfPresent(String.self, forKey: $1) }
    }

    func boolean(_ member: String) throws -> Bool {
        let boolean = try value(member, "must be true or false") { try $0.decodeIfPresent(Bool.self, forKey: $1) }
        guard let boolean else { throw RequestError.invalid(member, "is missing") }
        return boolean
    }

    /// A member that is an object; what is wrong in it is told by whoever reads it.
    func member<Value: Decodable>(_ member: String, _ type: Value.Type) throws -> Value {
        do {
            return try container.decode(type, forKey: Name(stringValue: member))
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError.invalid(member, "must be an object")
        }
    }

    private func value<Value>(
        _ member: String, _ complaint: String, _ read: (KeyedDecodingContainer<Name>, Name) throws -> Value?
    ) throws -> Value? {
        do {
            return try read(container, Name(stringValue: member))
        } catch {
            throw RequestError.invalid(member, complaint)
        }
    }
}
