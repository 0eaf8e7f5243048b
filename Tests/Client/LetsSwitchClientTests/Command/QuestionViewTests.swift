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
            #expect(view.heard(event) == [])
            #expect(view.status == status)
        }
    }

    @Test("The lines show questions, answers and announcements")
    func lines() throws {
        var view = QuestionView()
        let (told, aloud) = (try question("Why?", answer: "So."), try question("A\\nB"))
        #expect(
            view.heard(.list([told, aloud], hasMore: false)) == ["7 × Why? — So.", "7 × A\n    B — answered"])
        #expect(view.heard(.changed(told)) == ["7 × Why? — So."])
        #expect(view.heard(.removed(told.id)) == [])
        #expect(view.heard(.announced("Tea!")) == ["Announcement: Tea!"])
        #expect(view.heard(.state(isOpen: false)) == ["The session is closed."])
        #expect(view.heard(.answered(told.id)) == ["Your question was answered."])
        #expect(view.heard(.refused("Say who you are.")) == ["Say who you are."])
        #expect(view.status == "")
    }
}
