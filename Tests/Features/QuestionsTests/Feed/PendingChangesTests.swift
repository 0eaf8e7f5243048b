import Domain
import Foundation
import Testing

@testable import Questions

@Suite struct PendingChangesTests {
    private func mark(_ id: UUID, voted: Bool = true, answered: Bool = false) -> ChangedQuestions.Mark {
        ChangedQuestions.Mark(question: id, isVoted: voted, wasAnswered: answered)
    }

    @Test("Each question waits once, and other changes precede votes")
    func order() {
        var pending = PendingChanges()
        let ids = (0..<4).map { _ in UUID() }
        for _ in 0..<3 { for id in ids[..<3] { pending.add(mark(id)) } }
        pending.add(mark(ids[3], voted: false, answered: true))
        pending.add(mark(ids[3]))
        pending.add(mark(ids[2], voted: false))
        #expect(
            pending.next == [
                mark(ids[3], voted: false, answered: true), mark(ids[2], voted: false), mark(ids[0]), mark(ids[1]),
            ])
        pending.remove(3)
        #expect(pending.next == [mark(ids[1])])
        pending.remove(1)
        #expect(pending.isEmpty && pending.next.isEmpty)
    }

    @Test("Continuous votes on some questions don't delay the others")
    func fairness() {
        var pending = PendingChanges()
        let (loud, quiet) = ((0..<300).map { _ in UUID() }, UUID())
        for id in loud { pending.add(mark(id)) }
        pending.add(mark(quiet))
        var notified: [UUID] = []
        for _ in 0..<31 {
            let next = pending.next.prefix(10)
            notified += next.map(\.question)
            pending.remove(next.count)
            for id in loud { pending.add(mark(id)) }
        }
        #expect(notified.contains(quiet) && Set(notified).count > 300)
    }
}
