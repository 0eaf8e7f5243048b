/// What names a subscription of Action Cable: a client's own string, which holds an object with `channel` and the channel's parameters.
///
/// It is told by its bytes and never written anew: clients compare what they get with what they sent.
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

    /// The object that the string holds; `nil` when it holds none.
    package var parameters: CableParameters? {
        JSONObject(bytes).map { CableParameters($0) }
    }
}

/// The object within an identifier: which channel, and its parameters, which may be numbers or strings.
package struct CableParameters: Sendable, Equatable {
    private let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    /// As the client calls it; `nil` when it isn't a string.
    package var channel: [UInt8]? { object.string("channel") }

    /// The text of a parameter: a string's, or a number's as it is written; `nil` when it is neither.
    package func text(_ name: StaticString) -> String? {
        switch object[name] {
        case .string(let bytes)?, .number(let bytes)?: String(decoding: bytes, as: UTF8.self)
        case .boolean?, .null?, .nested?, nil: nil
        }
    }

    /// Whether the parameter is there, whatever it is.
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
