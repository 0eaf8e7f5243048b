import Foundation

@testable import LetsSwitchClient

/// The client's handling of any server message: it is read or refused without a trap, and a message that was read is
/// written back unchanged.
enum AnswerProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let bytes = input.content
        let text = String(decoding: bytes, as: UTF8.self)
        try checkCable(bytes)
        try checkRefusal(bytes, text)
        try checkAddress(text)
        try checkIdentifier(text)
        // Each type tries to decode the bytes. It may accept them, and must not trap.
        _ = try? RegisteredTask(bytes)
        _ = try? Reminder(text)
        let messages = (try? MessagePage(bytes))?.messages ?? []
        let last = (try? ConversationList(bytes))?.conversations.compactMap(\.lastMessage) ?? []
        let alone = (try? JSONDecoder().decode(Message.self, from: Data(bytes))).map { [$0] } ?? []
        for message in messages + last + alone {
            let written = try? JSONDecoder().decode(Message.self, from: JSONEncoder().encode(message))
            try require(written == message, "\(message) comes back as \(String(describing: written))")
        }
        _ = try? WireDate.decoder.decode(Questions.Incoming.self, from: Data(bytes))
        _ = try? WireDate.decoder.decode(Room.Incoming.self, from: Data(bytes))
    }

    /// A message is read exactly as by a simple parser. The identifier is returned byte for byte.
    private static func checkCable(_ bytes: [UInt8]) throws(BrokenProperty) {
        guard let answer = CableAnswer(bytes) else { return }
        let tree = PlainJSON(bytes, depth: 512)
        guard let tree, tree.text("type").isUnique, tree.text("identifier").isUnique else { return }
        let identifier = tree.text("identifier").text.map { Array($0.utf8) }
        switch answer {
        case .welcome: try require(tree.text("type").text == "welcome", "a welcome that is none")
        case .disconnect: try require(tree.text("type").text == "disconnect", "a disconnect that is none")
        case .confirmed(let own):
            try require(tree.text("type").text == "confirm_subscription" && own == identifier, "a confirmation")
        case .rejected(let own):
            try require(tree.text("type").text == "reject_subscription" && own == identifier, "a rejection")
        case .message(let own, let message):
            try require(tree.text("type").text == nil && own == identifier, "a message")
            _ = try? message.data(as: [String: String].self)
            _ = try? message.content(as: [String: Int].self)
        }
    }

    /// The client waits at most a day after a refusal, and never a negative time.
    private static func checkRefusal(_ bytes: [UInt8], _ text: String) throws(BrokenProperty) {
        for status in [403, 429, 503, 404] {
            for field in [String(text.prefix { $0.isASCII && $0 != "\r\n" }), "7"] {
                let response = ClientResponse(
                    status: status, fields: [ClientField("retry-after", field)], body: bytes)
                let refusal = ServerRefusal(response)
                if let wait = refusal.retryAfter {
                    try require(wait >= .zero && wait <= .seconds(86_400), "a wait of \(wait)")
                }
                var reconnecting = Reconnecting(.default)
                let wait = reconnecting.wait(after: .refused(refusal), openFor: nil, fraction: 0.5)
                try require(wait.map { $0 >= .zero && $0 <= .seconds(86_400) } ?? true, "too long a wait")
                try require(wait != nil || status == 404 || status == 403, "\(status) ends it")
            }
        }
    }

    private static func checkAddress(_ text: String) throws(BrokenProperty) {
        guard let address = try? ServerAddress(text) else { return }
        let again = try? ServerAddress(address.description)
        try require(again == address, "\(address) is read as \(String(describing: again))")
        let bytes = "\(address.authority)\(address.path)".utf8
        try require(bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an address that breaks a request: \(address)")
        try require(!address.host.isEmpty && !address.path.hasSuffix("/"), "an address: \(address)")
    }

    /// An identifier is the same text each time, and a server parses it as intended.
    private static func checkIdentifier(_ name: String) throws(BrokenProperty) {
        var parameters = ["id": "1"]
        parameters[name] = name
        let identifier = CableCommand.identifier(name, parameters)
        guard let frame = try? CableCommand("message", identifier, data: name).frame,
            case .message(_, let message) = frame
        else { throw BrokenProperty("nothing is said") }
        guard let received = CableProperties.received(message) else { throw BrokenProperty("no message is received") }
        try require(received.identifier == identifier && received.data == Array(name.utf8), "other words are received")
    }
}
