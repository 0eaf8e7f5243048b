import FoundationEssentials
import Wire

/// The fields of a request's JSON object. A missing field or one of the wrong type throws a `RequestError` that names
/// the field. Unknown fields are ignored.
package struct RequestFields {
    private let container: KeyedDecodingContainer<Name>

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes a body as `Value`.
    package static func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws(RequestError) -> Value {
        // RFC 8259 §8.1 lets a reader ignore a byte order mark, and some editors write one.
        let body = body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
        guard body.withUnsafeBytes(JSONSyntax.isValid) else { throw .invalid("The body must be valid JSON.") }
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch let error as RequestError {
            throw error
        } catch {
            throw .invalid("The body contains JSON that can't be decoded.")
        }
    }

    package init(_ decoder: any Decoder) throws {
        do {
            container = try decoder.container(keyedBy: Name.self)
        } catch {
            throw RequestError.invalid("The body must be a JSON object.")
        }
    }

    package func text(_ member: String) throws -> String {
        guard let text = try optionalText(member) else { throw RequestError.invalid(member, "is missing") }
        return text
    }

    /// Returns the text; nil if the field is missing or `null`.
    package func optionalText(_ member: String) throws -> String? {
        try value(member, "must be a string") { try $0.decodeIfPresent(String.self, forKey: $1) }
    }

    package func boolean(_ member: String) throws -> Bool {
        guard let boolean = try optionalBoolean(member) else { throw RequestError.invalid(member, "is missing") }
        return boolean
    }

    /// Returns the Boolean; nil if the field is missing or `null`.
    package func optionalBoolean(_ member: String) throws -> Bool? {
        try value(member, "must be true or false") { try $0.decodeIfPresent(Bool.self, forKey: $1) }
    }

    /// Returns the array of texts; nil if the field is missing or `null`.
    package func optionalTexts(_ member: String) throws -> [String]? {
        try value(member, "must be an array of strings") { try $0.decodeIfPresent([String].self, forKey: $1) }
    }

    package func integer(_ member: String) throws -> Int {
        guard let integer = try optionalInteger(member) else { throw RequestError.invalid(member, "is missing") }
        return integer
    }

    /// Returns the integer; nil if the field is missing or `null`.
    package func optionalInteger(_ member: String) throws -> Int? {
        try value(member, "must be a whole number") { try $0.decodeIfPresent(Int.self, forKey: $1) }
    }

    /// Returns a field that is an object. Its own decoder reports errors in it.
    package func member<Value: Decodable>(_ member: String, _ type: Value.Type) throws -> Value {
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

/// The rules for stored text from clients.
package enum RequestText {
    /// The maximum length of a task's title.
    package static let maximumTitleScalars = 200

    /// Checks text that other people see. Returns the text, or throws `invalid_request` with the field's name.
    package static func checkShown(_ text: String, _ member: String, maximumScalars: Int) throws(RequestError) -> String
    {
        let text = try check(text, member, maximumScalars: maximumScalars)
        guard !text.unicodeScalars.allSatisfy(showsNothing) else {
            throw .invalid(member, "must contain at least one visible character")
        }
        return text
    }

    /// White space, characters that readers must ignore, controls, and characters that are blank by design. Unassigned
    /// characters count as visible, because they may be next year's emoji.
    private static func showsNothing(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint {
            return true
        }
        switch (properties.generalCategory, scalar) {
        case (.control, _), (.format, _): return true
        // The braille pattern without dots, and the musical note without a head.
        case (_, "\u{2800}"), (_, "\u{1D159}"): return true
        default: return false
        }
    }

    /// Checks text that isn't shown, such as an id. Returns the text, or throws `invalid_request` with the field's name
    /// if the text is missing, too long or can't be stored.
    package static func check(_ text: String, _ member: String, maximumScalars: Int) throws(RequestError) -> String {
        let scalars = text.unicodeScalars
        guard !scalars.contains("\0") else { throw .invalid(member, "must not contain the character U+0000") }
        guard !scalars.allSatisfy(\.properties.isWhitespace) else { throw .invalid(member, "must not be blank") }
        guard scalars.count <= maximumScalars else {
            throw .invalid(member, "must have at most \(maximumScalars) characters")
        }
        return text
    }
}
