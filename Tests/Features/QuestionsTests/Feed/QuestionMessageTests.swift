import Domain
import Foundation
import Testing

@testable import Questions

@Suite struct QuestionMessageTests {
    private func read(_ text: String) -> QuestionMessage {
        Array(text.utf8).withUnsafeBytes { QuestionMessage($0) }
    }

    @Test("A question is parsed in any layout")
    func asking() {
        let id = UUID()
        for text in [
            #"{"type":"newQuestion","id":"\#(id)","content":"Why?"}"#,
            #" {"content" : "Why?", "id":"\#(id.uuidString.lowercased())", "more":[1], "type":"newQuestion"} "#,
        ] {
            #expect(read(text) == .ask(id: id, content: "Why?"), "\(text)")
        }
        #expect(read(#"{"type":"newQuestion","id":"\#(id)","content":7}"#) == .ask(id: id, content: nil))
        #expect(read(#"{"type":"newQuestion","id":7,"content":"Why?"}"#) == .ask(id: nil, content: "Why?"))
        // A browser sends this if a text was cut inside an emoji.
        let cut = #"{"type":"newQuestion","\udf7a":1,"content":"Why? \ud83c"}"#
        #expect(read(cut) == .ask(id: nil, content: "Why? \u{FFFD}"))
        #expect(read(#"{"type":"vote","questionId":"\#(id)"}"#) == .vote(question: id, isFor: true))
        #expect(read(#"{"type":"unvote","questionId":"x"}"#) == .vote(question: nil, isFor: false))
    }

    @Test(
        "Any other message is unknown and gets an explanation",
        arguments: [
            "", "x", "[]", "1", "null", #""newQuestion""#, "{}", #"{"type":1}"#, #"{"type":"ale"}"#,
            #"{"type":"newQuestion""#,
            "{\"type\":\"newQuestion\u{0}\"}",
        ])
    func unknown(text: String) {
        guard case .unknown(let reason) = read(text) else {
            Issue.record("\(text) was understood")
            return
        }
        #expect(reason.hasSuffix("."))
    }

    @Test("Server messages have the members that the published client decodes")
    func events() {
        let id = UUID()
        func text(_ event: QuestionEvent) -> String { String(decoding: event.payload, as: UTF8.self) }
        #expect(text(.handshake(id)) == #"{"type":"handshake","id":"\#(id)"}"#)
        #expect(
            text(.accepted(id: id, content: "a\"b", createdAt: 978_307_200 + 817_012_800.5))
                == #"{"type":"questionResponse","success":true,"message":"Your question was received.","id":"\#(id)","#
                + #""answered":false,"content":"a\"b","createdAt":817012800.5}"#)
        #expect(
            text(.refused(content: "", .databaseUnavailable))
                == #"{"type":"questionResponse","success":false,"#
                + #""message":"The database is unavailable. Please try again in a moment.","answered":false,"content":""}"#
        )
        #expect(text(.answered(id)) == #"{"type":"questionAnswer","questionId":"\#(id)"}"#)
        #expect(text(.error(code: nil, reason: "No.")) == #"{"type":"error","reason":"No."}"#)
        #expect(text(.announcement("Tea!")) == #"{"type":"announcement","content":"Tea!"}"#)
        #expect(text(.removed(id)) == #"{"type":"questionRemoved","questionId":"\#(id)"}"#)
        #expect(text(.session(.closed)) == #"{"type":"session","state":"closed"}"#)
        let page = QuestionPage(session: .open, questions: [], more: false)
        #expect(text(.questions(page, forPresenter: true)) == #"{"type":"questions","questions":[],"more":false}"#)
    }

    @Test("Only the presenter receives questions without approval")
    func publication() {
        func question(_ state: Question.State) -> Question {
            Question(
                id: UUID(), session: UUID(), content: "Why?", state: state, askedAt: Instant(seconds: 0),
                askedFrom: UUID())
        }
        let states: [Question.State] = [.pending, .approved, .dismissed]
        let publication = QuestionPublication(
            QuestionChanges(
                session: .open,
                part: QuestionChanges.Part(
                    states.map { .changed(question($0)) } + states.map { .asked(question($0)) } + [.removed(UUID())]),
                through: 4),
            hasNewState: true)
        #expect(
            publication.events(forPresenter: false).map(\.type)
                == ["questionRemoved", "question", "questionRemoved", "question", "questionRemoved", "session"])
        #expect(
            publication.events(forPresenter: true).map(\.type)
                == Array(repeating: "question", count: 6) + ["questionRemoved", "session"])
    }

    @Test("Each send option selects exactly its recipients")
    func options() {
        let (ada, bob) = (UUID(), UUID())
        func selected(_ option: WebSocketSendOption) -> [UUID] { [ada, bob].filter { option.selects(id: $0, nil) } }
        #expect(selected(.all) == [ada, bob])
        #expect(selected(.id(bob)) == [bob])
        #expect(selected(.id(UUID())) == [])
        let named = [ada, UUID(), ada]
        #expect(selected(.ids(named)) == [ada])
        #expect(selected(.ids([])) == [])
        #expect(selected(.allBut(named)) == [bob])
        #expect(selected(.allBut([])) == [ada, bob])
        #expect(selected(WebSocketSendOption(.allBut([bob]))) == [ada])
    }
}
