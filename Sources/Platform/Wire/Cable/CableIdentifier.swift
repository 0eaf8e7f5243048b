/// The name of an Action Cable subscription. It is a string that the client makes. The string contains an object with
/// `channel` and the channel's parameters.
///
/// The server compares the bytes of the string and never rewrites them, because clients compare the string with the one
/// that they sent.
package struct CableIdentifier: Sendable, Hashable {
    package static let maximumBytes = 1024

    /// The string in UTF-8, unescaped.
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(_ text: String) {
        bytes = Array(text.utf8)
    }

    package var isTooLong: Bool { bytes.count > Self.maximumBytes }

    /// The object in the string, or `nil` if there is none.
    package var parameters: CableParameters? {
        JSONObject(bytes).map { CableParameters($0) }
    }
}

/// The object in an identifier: the channel and its parameters, which may be numbers or strings.
package struct CableParameters: Sendable, Equatable {
    private let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    /// The channel's name, or `nil` if it isn't a string.
    package var channel: [UInt8]? { object.string("channel") }

    /// Returns the text of a parameter that is a string or a number. Returns `nil` for other types.
    package func text(_ name: StaticString) -> String? {
        switch object[name] {
        case .string(let bytes)?, .number(let bytes)?: String(decoding: bytes, as: UTF8.self)
        case .boolean?, .null?, .nested?, nil: nil
        }
    }

    /// Whether the parameter exists, with any type.
    package func has(_ name: StaticString) -> Bool {
        switch object[name] {
        case nil, .null?: false
        case .string?, .number?, .boolean?, .nested?: true
        }
    }

    /// Whether the parameter is `true`, or `"true"`.
    package func isTrue(_ name: StaticString) -> Bool {
        object[name] == .boolean(true) || object[name] == .string(Array("true".utf8))
    }
}
