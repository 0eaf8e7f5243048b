import Domain
import FoundationEssentials
import Server
import Wire

/// The body of a request: JSON, a form, or nothing. A JSON body gets a JSON answer.
enum QuestionBody: Sendable {
    case json([UInt8])
    case form(FormText)

    init(_ request: Request) throws(RequestError) {
        let isJSON = request.body.first { !" \t\r\n".utf8.contains($0) }.map { $0 == UInt8(ascii: "{") }
        let namesJSON = request.head.headers.value("Content-Type")?.lowercased().hasPrefix("application/json") == true
        if isJSON ?? false || namesJSON {
            self = .json(request.body)
        } else if let form = FormText(request.body) {
            self = .form(form)
        } else {
            throw .invalid("The body must be JSON or a URL-encoded form.")
        }
    }

    // MARK: Requests

    /// Reads a request for a new session.
    ///
    /// - Parameter device: Returns the session's owner for the body's `deviceId`.
    func session(by device: (String?) throws -> DeviceID) throws -> SessionRequest {
        switch self {
        case .json(let bytes): return try SessionRequest.decode(bytes, identify: device)
        case .form(let form):
            guard let title = form["title"] else { throw RequestError.invalid("title", "is missing") }
            return try SessionRequest(
                device: try device(form["deviceId"]), title: title, isModerated: form["moderated"] != nil)
        }
    }

    func announcement() throws -> AnnouncementRequest {
        switch self {
        case .json(let bytes): try AnnouncementRequest.decode(bytes)
        case .form(let form): try AnnouncementRequest(content: form["content"] ?? "", recipients: .all)
        }
    }

    func answer() throws -> AnswerRequest {
        switch self {
        case .json(let bytes): try AnswerRequest.decode(bytes)
        case .form(let form): try AnswerRequest(answer: form["answer"])
        }
    }

    /// Checks a body whose content isn't used. A JSON body must be an object or empty.
    func checkObject() throws(RequestError) {
        guard case .json(let bytes) = self, !bytes.isEmpty else { return }
        _ = try RequestFields.decode(SomeObject.self, from: bytes)
    }

    private struct SomeObject: Decodable {
        init(from decoder: any Decoder) throws { _ = try RequestFields(decoder) }
    }
}

extension Response {
    /// Creates a `303` to the page that shows the result.
    init(seeOther location: String) {
        self.init(.seeOther, headers: [HTTPField("Location", location)])
    }
}
