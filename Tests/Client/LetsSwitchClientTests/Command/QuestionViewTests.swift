import Foundation
import Testing

@testable import LetsSwitchClient
@testable import letsswitch

/// The terminal's text about a question session.
@Suite struct QuestionViewTests {
    private func question(_ content: String, answer: String? = nil) throws -> Question {
        let answer = answer.map { #","answer":"\#($0)""# } ?? ""
        let text = """
            {"id":"\(UUID())","content":"\(content)","answered":true\(answer),"votes":7,"state":"approved",\
            "askedAt":"2026-11-22T09:00:00Z"}
            """
        return try WireDate.decoder.decode(Question.self, from: Data(text.utf8))
    }

    @Test("The status line shows the number of participants or the time to the next attempt")
    func status() {
        var view = QuestionView()
        #expect(view.status == "")
        for (event, status) in [
            (.entered, ""), (.presence(count: 1), "only you are here"), (.presence(count: 42), "42 people are here"),
            (.closed(.goingAway), "42 people are here"),
            (.waiting(.milliseconds(2_500)), "not connected; trying again in 3 s"), (.entered, ""),
        ] as [(Questions.Event, String)] {
            #expect(view.receive(event) == [])
            #expect(view.status == status)
        }
    }

    @Test("The lines show questions, answers and announcements")
    func lines() throws {
        var view = QuestionView()
        let (answered, answeredAloud) = (try question("Why?", answer: "So."), try question("A\\nB"))
        #expect(
            view.receive(.list([answered, answeredAloud], hasMore: false)) == [
                "7 × Why? — So.", "7 × A\n    B — answered",
            ])
        #expect(view.receive(.changed(answered)) == ["7 × Why? — So."])
        #expect(view.receive(.removed(answered.id)) == [])
        #expect(view.receive(.announced("Tea!")) == ["Announcement: Tea!"])
        #expect(view.receive(.state(isOpen: false)) == ["The session is closed."])
        #expect(view.receive(.answered(answered.id)) == ["Your question was answered."])
        #expect(view.receive(.refused("Say who you are.")) == ["Say who you are."])
        #expect(view.status == "")
    }
}
