#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A message of the Action Cable server other than a ping.
enum CableAnswer: Sendable, Hashable {
    case welcome
    case confirmed(CableTable.Identifier)
    case rejected(CableTable.Identifier)
    case message(CableTable.Identifier, CableMessage)
    case disconnect(reason: String, comesAgain: Bool)

    private struct Frame: Decodable {
        let type: String?
        let identifier: String?
        let message: Message?
        let reason: String?
        let reconnect: Bool?
    }

    /// The content of any kind of message. In a ping it is a number.
    private struct Message: Decodable {
        let type: String?

        private enum Key: CodingKey { case type }

        init(from decoder: any Decoder) throws {
            type = (try? decoder.container(keyedBy: Key.self)).flatMap { try? $0.decode(String.self, forKey: .type) }
        }
    }

    /// - Returns: `nil` for a ping or an invalid message.
    init?(_ bytes: [UInt8]) {
        let data = Data(bytes)
        guard let frame = try? JSONDecoder().decode(Frame.self, from: data) else { return nil }
        let identifier = frame.identifier.map { Array($0.utf8) }
        switch (frame.type, identifier) {
        case ("welcome", _): self = .welcome
        case ("disconnect", _):
            self = .disconnect(reason: frame.reason ?? "", comesAgain: frame.reconnect ?? true)
        case ("confirm_subscription", let identifier?): self = .confirmed(identifier)
        case ("reject_subscription", let identifier?): self = .rejected(identifier)
        case (nil, let identifier?):
            guard let message = frame.message else { return nil }
            self = .message(identifier, CableMessage(type: message.type, frame: data))
        default: return nil
        }
    }
}

/// A command to the Action Cable server.
struct CableCommand: Encodable {
    let command: String
    let identifier: String
    var data: String?

    init(_ command: CableTable.Command) {
        switch command {
        case .subscribe(let identifier): self.init("subscribe", identifier)
        case .unsubscribe(let identifier): self.init("unsubscribe", identifier)
        }
    }

    init(_ command: String, _ identifier: CableTable.Identifier, data: String? = nil) {
        self.command = command
        self.identifier = String(decoding: identifier, as: UTF8.self)
        self.data = data
    }

    var frame: LinkFrame {
        get throws { .message(.text, Array(try JSONEncoder().encode(self))) }
    }

    /// Returns the identifier of a channel with these parameters. Equal parameters give the same text, byte for byte.
    static func identifier(_ channel: String, _ parameters: [String: String]) -> CableTable.Identifier {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A dictionary of strings can always be encoded.
        let bytes = try? encoder.encode(parameters.merging(["channel": channel]) { $1 })
        return Array(bytes ?? Data())
    }

    /// Returns the text of an action and its content.
    static func action(_ name: String, _ content: some Encodable) throws -> String {
        guard try JSONEncoder().encode(content).first == UInt8(ascii: "{") else {
            throw ClientError.invalidValue("content that isn't a JSON object")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(Action(name: name, content: content)), as: UTF8.self)
    }

    private struct Action<Content: Encodable>: Encodable {
        let name: String
        let content: Content

        private enum Key: CodingKey { case action }

        func encode(to encoder: any Encoder) throws {
            try content.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(name, forKey: .action)
        }
    }
}
