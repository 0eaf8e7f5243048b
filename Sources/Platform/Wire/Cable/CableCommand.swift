/// A message from a client of Action Cable: an object in a text or binary message.
///
/// ```
/// {"command":"subscribe","identifier":"{\"channel\":\"RoomChannel\",\"id\":\"…\"}"}
/// {"command":"message","identifier":"…","data":"{\"action\":\"ale\"}"}
/// {"command":"unsubscribe","identifier":"…"}
/// ```
package enum CableCommand: Sendable, Equatable {
    case subscribe(CableIdentifier)
    case unsubscribe(CableIdentifier)
    /// A message for a subscription. `data` is the content of a JSON string, which should be an object. `nil` if the
    /// client sent no string.
    case message(CableIdentifier, data: [UInt8]?)
    /// Extended protocol: a subscription with a history or with presence.
    case resume(CableIdentifier, CableResumption)
    /// Extended protocol: a request for missed messages. `nil` if the history can't be read.
    case history(CableIdentifier, CableHistory?)
    /// Extended protocol: a request about presence.
    case presence(CableIdentifier, CablePresenceRequest)

    /// Whether the message is a pong, the extended protocol's answer to a ping. A pong has no effect.
    package static func isPong(_ message: UnsafeRawBufferPointer) -> Bool {
        JSONObject(message)?.string("command") == Array("pong".utf8)
    }

    /// Reads a whole message.
    ///
    /// - Parameter isExtended: Whether messages of the extended protocol are allowed.
    package init(_ message: UnsafeRawBufferPointer, isExtended: Bool = false) throws(CableFault) {
        guard let object = JSONObject(message) else { throw .noObject }
        guard let command = object.string("command").flatMap(Name.init), isExtended || !command.isExtended else {
            throw .unknownCommand
        }
        guard let identifier = object.string("identifier").map(CableIdentifier.init) else { throw .noIdentifier }
        switch command {
        case .subscribe:
            let resumption = isExtended ? Self.resumption(object) : nil
            self = resumption.map { .resume(identifier, $0) } ?? .subscribe(identifier)
        case .unsubscribe: self = .unsubscribe(identifier)
        case .message: self = .message(identifier, data: object.string("data"))
        case .history: self = .history(identifier, Self.history(object))
        case .join: self = .presence(identifier, .join)
        case .leave: self = .presence(identifier, .leave)
        case .presence: self = .presence(identifier, .presence)
        }
    }

    private static func history(_ object: JSONObject) -> CableHistory? {
        guard case .nested(let json)? = object["history"] else { return nil }
        return CableHistory(json)
    }

    /// Returns `nil` if the request has neither a history nor presence.
    private static func resumption(_ object: JSONObject) -> CableResumption? {
        let history = history(object)
        let joins = if case .nested? = object["presence"] { true } else { false }
        return history != nil || joins ? CableResumption(history: history, joins: joins) : nil
    }

    package var identifier: CableIdentifier {
        switch self {
        case .subscribe(let identifier), .unsubscribe(let identifier), .message(let identifier, _),
            .resume(let identifier, _), .history(let identifier, _), .presence(let identifier, _):
            identifier
        }
    }

    private enum Name: String, CaseIterable {
        case subscribe, unsubscribe, message
        case history, join, leave, presence

        var isExtended: Bool {
            switch self {
            case .subscribe, .unsubscribe, .message: false
            case .history, .join, .leave, .presence: true
            }
        }

        init?(_ bytes: [UInt8]) {
            guard let name = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(bytes) }) else { return nil }
            self = name
        }
    }
}

/// The reason why a client's message is ignored. The connection stays open.
package enum CableFault: String, Error, Sendable, CaseIterable {
    /// The message isn't JSON, or isn't an object.
    case noObject = "no_object"
    case unknownCommand = "unknown_command"
    /// The message has no string `identifier`, or the string doesn't contain an object.
    case noIdentifier = "no_identifier"
    /// The connection has no subscription with this identifier.
    case notSubscribed = "not_subscribed"
}
