package import Domain
package import FoundationEssentials

/// The body of a request for a new session: `{deviceId, title, moderated?}`.
package struct SessionRequest: Sendable, Hashable {
    package let device: DeviceID
    package let title: String
    package let isModerated: Bool

    /// Throws `invalid_request` with the name of the invalid field.
    package init(device: DeviceID, title: String, isModerated: Bool) throws(RequestError) {
        self.device = device
        self.title = try RequestText.checkShown(title, "title", maximumScalars: RequestText.maximumTitleScalars)
        self.isModerated = isModerated
    }

    /// Throws `invalid_request` with the name of the invalid field.
    ///
    /// - Parameter identify: Returns the device for the body's `deviceId`, which may be missing.
    package static func decode(
        _ body: [UInt8], identify: (String?) throws -> DeviceID = { try DeviceID($0) }
    ) throws -> SessionRequest {
        let members = try RequestFields.decode(Members.self, from: body)
        return try SessionRequest(
            device: identify(members.deviceId), title: members.title, isModerated: members.moderated)
    }

    private struct Members: Decodable {
        let deviceId: String?
        let title: String
        let moderated: Bool

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            deviceId = try fields.optionalText("deviceId")
            title = try fields.text("title")
            moderated = try fields.optionalBoolean("moderated") ?? false
        }
    }
}

/// A presenter's action on a question.
package enum QuestionAction: String, Sendable, CaseIterable {
    case answer, approve, dismiss
    /// Returns the question to its first state: unanswered and not dismissed.
    case reopen
}

/// The body of an answer: `{answer?}`.
package struct AnswerRequest: Sendable, Hashable {
    package let answer: String?

    /// Throws `invalid_request` with the name of the invalid field. A blank answer counts as missing, because a form
    /// always sends its field.
    package init(answer: String?) throws(RequestError) {
        guard let answer, !answer.unicodeScalars.allSatisfy(\.properties.isWhitespace) else {
            self.answer = nil
            return
        }
        self.answer = try QuestionText.check(answer, "answer")
    }

    package static func decode(_ body: [UInt8]) throws(RequestError) -> AnswerRequest {
        guard !body.isEmpty else { return try AnswerRequest(answer: nil) }
        return try AnswerRequest(answer: RequestFields.decode(Members.self, from: body).answer)
    }

    private struct Members: Decodable {
        let answer: String?

        init(from decoder: any Decoder) throws {
            answer = try RequestFields(decoder).optionalText("answer")
        }
    }
}

/// The recipients of an announcement, by their ids within the session.
package enum Recipients: Sendable, Hashable {
    case all
    case ids(Set<UUID>)
    case allBut(Set<UUID>)

    /// The maximum number of ids in one announcement.
    package static let maximumCount = 1_000
}

/// The body of an announcement: `{content, to}`, where `to` is `"all"`, `{"ids":[…]}` or `{"allBut":[…]}`.
package struct AnnouncementRequest: Sendable, Hashable {
    package let content: String
    package let recipients: Recipients

    /// Throws `invalid_request` with the name of the invalid field.
    package init(content: String, recipients: Recipients) throws(RequestError) {
        self.content = try QuestionText.check(content, "content")
        self.recipients = recipients
    }

    package static func decode(_ body: [UInt8]) throws(RequestError) -> AnnouncementRequest {
        let members = try RequestFields.decode(Members.self, from: body)
        return try AnnouncementRequest(content: members.content, recipients: members.recipients)
    }

    private struct Members: Decodable {
        let content: String
        let recipients: Recipients

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            content = try fields.text("content")
            recipients = try Self.recipients(fields)
        }

        private static func recipients(_ fields: RequestFields) throws -> Recipients {
            if let word = try? fields.optionalText("to") {
                guard word.utf8.elementsEqual("all".utf8) else { throw Self.wrong }
                return .all
            }
            let named = try? fields.member("to", Named.self)
            switch (named?.ids, named?.allBut) {
            case (let ids?, nil): return .ids(try check(ids))
            case (nil, let ids?): return .allBut(try check(ids))
            default: throw Self.wrong
            }
        }

        private static let wrong = RequestError.invalid("to", #"must be "all", {"ids":[…]} or {"allBut":[…]}"#)

        private static func check(_ ids: [String]) throws(RequestError) -> Set<UUID> {
            guard ids.count <= Recipients.maximumCount else {
                throw .invalid("to", "must name at most \(Recipients.maximumCount) ids")
            }
            var uuids: Set<UUID> = []
            for id in ids {
                guard let uuid = UUID(text: id) else { throw .invalid("to", "must contain UUIDs") }
                uuids.insert(uuid)
            }
            return uuids
        }
    }

    private struct Named: Decodable {
        let ids: [String]?
        let allBut: [String]?
    }
}
