package import Domain
package import FoundationEssentials
package import Messaging
package import Wire

/// What the server tells somebody in a session: a type, and its members.
package enum QuestionEvent: Sendable {
    /// To a newcomer: the id by which the session knows it.
    case handshake(UUID)
    /// To who asked: it is stored.
    case accepted(id: UUID, content: String, createdAt: Double)
    /// To who asked: it isn't, for this reason.
    case refused(content: String, RequestError)
    /// To who asked: it was answered.
    case answered(UUID)
    case announcement(String)
    case error(code: String?, reason: String)
    /// To who follows the session live, from here on.
    case questions(QuestionPage, forPresenter: Bool)
    case question(Question, forPresenter: Bool)
    case removed(UUID)
    case session(QuestionSession.State)
    /// So many are there.
    case presence(Int)

    package var type: String {
        switch self {
        case .handshake: "handshake"
        case .accepted, .refused: "questionResponse"
        case .answered: "questionAnswer"
        case .announcement: "announcement"
        case .error: "error"
        case .questions: "questions"
        case .question: "question"
        case .removed: "questionRemoved"
        case .session: "session"
        case .presence: "presence"
        }
    }

    /// Within an object. What the published client decodes, it needs all of: `answered` and `content` are there on failure too.
    package func writeMembers(to json: inout JSONText) {
        switch self {
        case .handshake(let id): json.member("id", id.text)
        case .accepted(let id, let content, let createdAt):
            json.member("success", true)
            json.member("message", "Your question was received.")
            json.member("id", id.text)
            json.member("answered", false)
            json.member("content", content)
            json.member("createdAt", createdAt - Self.referenceDate)
        case .refused(let content, let error):
            json.member("success", false)
            json.member("message", error.reason)
            json.member("answered", false)
            json.member("content", content)
        case .answered(let question): json.member("questionId", question.text)
        case .announcement(let content): json.member("content", content)
        case .error(let code, let reason):
            json.member("code", code)
            json.member("reason", reason)
        case .questions(let page, let forPresenter): page.writeMembers(to: &json, forPresenter: forPresenter)
        case .question(let question, let forPresenter):
            json.name("question")
            question.write(to: &json, forPresenter: forPresenter)
        case .removed(let question): json.member("questionId", question.text)
        case .session(let state): json.member("state", state.rawValue)
        case .presence(let count): json.member("count", count)
        }
    }

    /// 2001-01-01T00:00:00Z, from which Swift's own coding of dates counts.
    private static let referenceDate: Double = 978_307_200

    /// `{"type":…,…}`: a WebSocket's message. Presence is the same wherever it is told: `{"type":"presence","data":{…}}`.
    var payload: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("type", type)
            if case .presence = self {
                object.name("data")
                object.object { writeMembers(to: &$0) }
            } else {
                writeMembers(to: &object)
            }
        }
        return json.bytes
    }

    /// The same in a frame, put at the end of a buffer: several leave as one piece.
    func appendFrame(to buffer: inout [UInt8]) {
        WebSocketFrameEncoder.encode(.binary, payload, into: &buffer)
    }
}
