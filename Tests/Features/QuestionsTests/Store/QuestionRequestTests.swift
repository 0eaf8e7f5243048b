import Domain
import Foundation
import Testing

@testable import Questions

@Suite struct QuestionRequestTests {
    private func announcement(_ json: String) throws -> AnnouncementRequest {
        try AnnouncementRequest.decode(Array(json.utf8))
    }

    @Test("An announcement goes to all, to some, or to all except some")
    func recipients() throws {
        let id = UUID()
        for (to, recipients) in [
            (#""all""#, Recipients.all), (#"{"ids":["\#(id)"]}"#, .ids([id])), (#"{"ids":[]}"#, .ids([])),
            (#"{"allBut":["\#(id.uuidString.lowercased())"]}"#, .allBut([id])),
        ] {
            #expect(try announcement(#"{"content":"Tea!","to":\#(to)}"#).recipients == recipients)
        }
        let many = Array(repeating: #""\#(id)""#, count: Recipients.maximumCount + 1).joined(separator: ",")
        for to in [
            #""some""#, "null", "1", "{}", #"{"ids":"x"}"#, #"{"ids":["x"]}"#, #"{"ids":[],"allBut":[]}"#, "[]",
            #"{"ids":[\#(many)]}"#,
        ] {
            #expect(throws: RequestError.self, "\(to.prefix(40))") {
                try announcement(#"{"content":"Tea!","to":\#(to)}"#)
            }
        }
        #expect(throws: RequestError.self) { try announcement(#"{"to":"all"}"#) }
        #expect(throws: RequestError.self) { try announcement(#"{"content":" ","to":"all"}"#) }
    }

    @Test("Content has 1 to 2,000 Unicode scalars")
    func content() throws {
        for (text, isFine) in [
            ("?", true), ("", false), (" \n", false), ("\0", false), (String(repeating: "é", count: 2_000), true),
            (String(repeating: "a", count: 2_001), false), ("\u{200B}", false),
        ] {
            #expect((try? QuestionText.check(text, "content")) == (isFine ? text : nil))
        }
    }

    @Test("A new session needs a device and a title")
    func sessions() throws {
        let request = try SessionRequest.decode(
            Array(#"{"deviceId":"ada","title":"Tea","moderated":true}"#.utf8))
        #expect(request.device.text == "ada" && request.title == "Tea" && request.isModerated)
        for json in [
            "", "[]", "{}", #"{"title":"Tea"}"#, #"{"deviceId":"ada"}"#, #"{"deviceId":"ada","title":" "}"#,
            #"{"deviceId":"ada","title":"Tea","moderated":1}"#,
        ] {
            #expect(throws: RequestError.self, "\(json)") { try SessionRequest.decode(Array(json.utf8)) }
        }
        for json in ["", "{}", #"{"answer":null}"#, #"{"answer":" "}"#] {
            #expect(try AnswerRequest.decode(Array(json.utf8)).answer == nil)
        }
        #expect(try AnswerRequest.decode(Array(#"{"answer":"Yes."}"#.utf8)).answer == "Yes.")
    }

    @Test("A question's JSON shows the asker only to the presenter")
    func json() throws {
        let (id, session, asker) = (UUID(), UUID(), UUID())
        let question = Question(
            id: id, session: session, content: "Why?", answered: true, answer: "So.", votes: 3,
            askedAt: Instant(seconds: 0), askedFrom: asker)
        let members =
            #"{"id":"\#(id)","session":"\#(session)","content":"Why?","answered":true,"answer":"So.","votes":3,"#
            + #""state":"approved","askedAt":"1970-01-01T00:00:00Z""#
        #expect(String(decoding: question.json(forPresenter: false), as: UTF8.self) == members + "}")
        #expect(
            String(decoding: question.json(forPresenter: true), as: UTF8.self) == members
                + #","askedFrom":"\#(asker)"}"#)
    }
}
