package import Domain
package import FoundationEssentials
package import Wire

/// An event for a subscriber of a session: a type and its fields.
package enum QuestionEvent: Sendable {
    /// For a new subscriber: the user's id within the session.
    case handshake(UUID)
    /// For the user who asked: the question is stored.
    case accepted(id: UUID, content: String, createdAt: Double)
    /// For the user who asked: the question isn't stored, for this reason.
    case refused(content: String, RequestError)
    /// For the user who asked: the question was answered.
    case answered(UUID)
    case announcement(String)
    case error(code: String?, reason: String)
    /// For live subscribers: a page of the list of questions. Changes follow.
    case questions(QuestionPage, forPresenter: Bool)
    case question(Question, forPresenter: Bool)
    case removed(UUID)
    case session(QuestionSession.State)
    /// The number of people in the session.
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

    /// Writes the fields into a JSON object. The published client requires `answered` and `content` even after a
    /// failure.
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

    /// The reference date of Swift's coding of dates: 2001-01-01T00:00:00Z, in epoch seconds.
    private static let referenceDate: Double = 978_307_200

    /// The WebSocket message: `{"type":…,…}`. Presence has the same form in all features:
    /// `{"type":"presence","data":{…}}`.
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

    /// Appends the message as a frame, so that several frames are sent together.
    func appendFrame(to buffer: inout [UInt8]) {
        WebSocketFrameEncoder.encode(.binary, payload, into: &buffer)
    }
}
