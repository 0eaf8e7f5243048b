import FoundationEssentials
import LetsSwitchClient

/// Asking in a session of questions, or listening to one.
struct QuestionRun {
    /// The server's messages are shown as they came, so none is decoded on the way.
    private struct Undecoded: Decodable {
        init(from decoder: any Decoder) throws {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
        }
    }

    private struct Question: Encodable {
        let type = "newQuestion"
        let id: String
        let content: String
    }

    private struct Told: Decodable {
        let content: String
        let votes: Int?
        let answered: Bool?
        let answer: String?
    }

    private struct Message: Decodable {
        let type: String
        let id: String?
        let success: Bool?
        let message: String?
        let reason: String?
        let content: String?
        let state: String?
        let question: Told?
        let questions: [Told]?
    }

    private typealias Socket = WebSocketClient<Undecoded, Question>

    private let server: ServerAddress
    private let output: Output
    private let path: String

    /// - Parameter device: Who asks; has to be percent-encoded.
    init(_ session: UUID, device: String, _ server: ServerAddress, _ output: Output) {
        self.server = server
        self.output = output
        path = "/questions/\(session.uuidString)/socket?deviceId=\(device)"
    }

    /// Asks once, and returns when it is stored.
    func ask(_ content: String) async throws {
        try await LetsSwitchClient(server, deviceID: "").checkReachability()
        // After a loss nobody knows whether it was asked: then that is told, and it isn't asked again.
        let socket = Socket(server, path: path, reconnect: .never)
        for try await event in socket.events {
            guard case .undecodable(let data) = event, let message = Self.message(data) else { continue }
            switch message.type {
            case "handshake": try await socket.send(Question(id: message.id ?? "", content: content), as: .text)
            case "questionResponse" where message.success == true:
                try output.tell(String(decoding: data, as: UTF8.self), message.message ?? "It is asked.")
                return await socket.cancel()
            case "questionResponse", "error":
                await socket.cancel()
                throw ClientError.sentAway(message.message ?? message.reason ?? "it wasn't taken")
            default: continue
            }
        }
        throw ClientError.closed(.normal, reason: "before it was asked")
    }

    /// Shows a session's questions, and what becomes of them.
    func listen() async throws {
        try await LetsSwitchClient(server, deviceID: "").checkReachability()
        let socket = Socket(server, path: path + "&live=true")
        for try await event in socket.events {
            switch event {
            case .undecodable(let data):
                let text = String(decoding: data, as: UTF8.self)
                guard output.isTerminal else {
                    try output.tell(text, text)
                    continue
                }
                for line in Self.message(data).map(Self.lines) ?? [text] { try output.say(line) }
            case .waiting(let wait) where output.isTerminal:
                try output.say("not connected; again in \(wait.components.seconds) s")
            case .opened, .message, .waiting, .closed: break
            }
        }
    }

    private static func message(_ data: Data) -> Message? { try? JSONDecoder().decode(Message.self, from: data) }

    private static func lines(_ message: Message) -> [String] {
        switch message.type {
        case "questions": (message.questions ?? []).map(line)
        case "question": message.question.map { [line($0)] } ?? []
        case "announcement": message.content.map { ["Announced: \($0)"] } ?? []
        case "session": message.state.map { ["The session is \($0)."] } ?? []
        case "questionAnswer": ["Your question was answered."]
        case "error": message.reason.map { [$0] } ?? []
        default: []
        }
    }

    private static func line(_ question: Told) -> String {
        let answer = question.answer.map { " — \($0)" } ?? (question.answered == true ? " — answered" : "")
        return "\(question.votes ?? 0) × \(question.content)\(answer)"
    }
}
