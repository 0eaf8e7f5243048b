/// What a client of Action Cable says: an object in a text or binary message.
///
/// ```
/// {"command":"subscribe","identifier":"{\"channel\":\"RoomChannel\",\"id\":\"…\"}"}
/// {"command":"message","identifier":"…","data":"{\"action\":\"ale\"}"}
/// {"command":"unsubscribe","identifier":"…"}
/// ```
package enum CableCommand: Sendable, Equatable {
    case subscribe(CableIdentifier)
    case unsubscribe(CableIdentifier)
    /// The string that should hold an object, unescaped; `nil` when it isn't a string.
    case message(CableIdentifier, data: [UInt8]?)

    /// Reads a message whole.
    package init(_ message: UnsafeRawBufferPointer) throws(CableFault) {
        guard let object = JSONObject(message) else { throw .noObject }
        guard let command = object.string("command").flatMap(Name.init) else { throw .unknownCommand }
        guard let identifier = object.string("identifier").map(CableIdentifier.init) else { throw .noIdentifier }
        switch command {
        case .subscribe: self = .subscribe(identifier)
        case .unsubscribe: self = .unsubscribe(identifier)
        case .message: self = .message(identifier, data: object.string("data"))
        }
    }

    package var identifier: CableIdentifier {
        switch self {
        case .subscribe(let identifier), .unsubscribe(let identifier), .message(let identifier, _): identifier
        }
    }

    private enum Name: String, CaseIterable {
        case subscribe, unsubscribe, message

        init?(_ bytes: [UInt8]) {
            guard let name = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(bytes) }) else { return nil }
            self = name
        }
    }
}

/// Why a client's message is ignored. The connection stays.
package enum CableFault: String, Error, Sendable, CaseIterable {
    /// No JSON, or no object.
    case noObject = "no_object"
    case unknownCommand = "unknown_command"
    /// No identifier that is a string, or one that holds no object.
    case noIdentifier = "no_identifier"
    /// Nothing is subscribed to by that identifier.
    case notSubscribed = "not_subscribed"
}
