import Domain
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Questions

/// The questions of a session: asking, moderation, votes, and reading their changes.
@Suite struct QuestionStoreTests {
    @Test("Every moderation returns the question's new state")
    func states() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            for isModerated in [false, true] {
                let fixture = try await QuestionSessionFixture(database, moderated: isModerated)
                let first: Question.State = isModerated ? .pending : .approved
                let asker = UUID()
                let id = try await fixture.ask("Why?", asker)
                let asked = try #require(try await fixture.page().questions.first)
                #expect(asked.state == first && asked.askedFrom == asker && !asked.answered && asked.votes == 0)
                #expect(asked.askedAt == Instant(QuestionSessionFixture.now))
                #expect(try await fixture.page(all: false).questions.map(\.id) == (isModerated ? [] : [id]))
                #expect(try await fixture.moderate(id, .approve).state == .approved)
                #expect(try await fixture.moderate(id, .dismiss).state == .dismissed)
                #expect(try await fixture.page(all: false).questions.isEmpty)
                let reopened = try await fixture.moderate(id, .reopen)
                #expect(reopened.state == first)
                let answered = try await fixture.moderate(id, .answer, answer: "Because.")
                #expect(answered.answered && answered.answer == "Because." && answered.state == first)
                #expect(answered.version > reopened.version)
                // A second answer changes nothing.
                #expect(try await fixture.moderate(id, .answer, answer: "No.") == answered)
                let again = try await fixture.moderate(id, .reopen)
                #expect(!again.answered && again.answer == nil && again.version == answered.version + 1)
            }
        }
    }

    @Test(
        "Moderation needs the key"
    )
    func refusals() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let fixture = try await QuestionSessionFixture(database)
            let other = try await QuestionSessionFixture(database)
            let id = try await fixture.ask("Why?")
            let announcement = try AnnouncementRequest(content: "Tea!", recipients: .all)
            for keys in [[], other.keys] {
                for action in QuestionAction.allCases {
                    #expect(
                        try await code { _ = try await fixture.store.moderate(id, action, keys: keys, opensAll: true) }
                            == "presenter_only")
                }
                #expect(
                    try await code { _ = try await fixture.store.set(fixture.session.id, to: .closed, keys: keys) }
                        == "presenter_only")
                #expect(
                    try await code {
                        _ = try await fixture.store.announce(announcement, in: fixture.session.id, keys: keys)
                    }
                        == "presenter_only")
            }
            let keys = other.keys + fixture.keys
            #expect(try await fixture.store.set(fixture.session.id, to: .closed, keys: keys).state == .closed)
            for action in QuestionAction.allCases {
                #expect(
                    try await code { _ = try await fixture.store.moderate(id, action, keys: keys, opensAll: false) }
                        == "session_closed")
            }
            #expect(try await code { _ = try await fixture.ask("And?") } == "session_closed")
            #expect(
                try await code {
                    _ = try await fixture.store.announce(announcement, in: fixture.session.id, keys: keys)
                }
                    == "session_closed")
            #expect(try await fixture.vote(id, UUID()) == .refused(.sessionClosed))
            #expect(try await fixture.store.set(fixture.session.id, to: .open, keys: keys).state == .open)
            _ = try await fixture.ask("And?")
            #expect(
                try await code { _ = try await fixture.store.moderate(UUID(), .answer, keys: keys, opensAll: true) }
                    == "no_such_question")
            #expect(
                try await code { _ = try await fixture.store.set(UUID(), to: .open, keys: keys) } == "no_such_session")
            #expect(
                try await code { _ = try await fixture.store.announce(announcement, in: UUID(), keys: keys) }
                    == "no_such_session")
            #expect(
                try await code { _ = try await fixture.store.ask("?", in: UUID(), asker: UUID(), device: nil) }
                    == "no_such_session")
            #expect(try await fixture.store.page(of: UUID(), all: true) == nil)
        }
    }

    @Test("The open session exists only if the daemon has one")
    func openSession() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let store = QuestionStore(
                database: database.client, settings: QuestionSettings(), storage: StorageQuota())
            for _ in 0..<2 { try await store.makeOpenSession() }
            let asked = try await store.ask("Why?", in: QuestionSession.open.id, asker: UUID(), device: nil)
            #expect(
                try await code { _ = try await store.moderate(asked.id, .answer, keys: [], opensAll: false) }
                    == "no_such_question")
            #expect(try await store.moderate(asked.id, .answer, keys: [], opensAll: true).question.answered)
        }
    }

    @Test("A vote counts once per voter and question")
    func votes() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let fixture = try await QuestionSessionFixture(database)
            let other = try await QuestionSessionFixture(database)
            let (first, second) = (try await fixture.ask("Why?"), try await fixture.ask("How?"))
            let foreign = try await other.ask("Who?")
            let (ada, bob) = (UUID(), UUID())
            func vote(_ question: UUID, _ voter: UUID, _ isFor: Bool = true, in fixture: QuestionSessionFixture) -> Vote
            {
                Vote(session: fixture.session.id, question: question, voter: voter, isFor: isFor)
            }
            let outcomes = try await fixture.store.count([
                vote(first, ada, in: fixture), vote(first, ada, in: fixture), vote(first, bob, in: fixture),
                vote(second, bob, in: fixture), vote(second, bob, false, in: fixture), vote(UUID(), bob, in: fixture),
                // Votes for a question of another session and for an unknown one.
                vote(foreign, bob, in: fixture), vote(foreign, bob, in: other),
                Vote(session: UUID(), question: first, voter: UUID(), isFor: true),
            ])
            for (index, outcome) in outcomes.enumerated() {
                let isRefused = [5, 6, 8].contains(index)
                #expect(isRefused == (outcome == .refused(.noSuchQuestion)), "\(index): \(outcome)")
            }
            #expect(try await fixture.page().questions.map(\.votes) == [2, 0])
            #expect(try await other.page().questions.map(\.votes) == [1])
            _ = try await fixture.vote(first, ada, isFor: false)
            let version = try await fixture.page().session.version
            // The vote was already withdrawn, so nothing changes.
            #expect(try await fixture.vote(first, ada, isFor: false) == .counted(version: version))
            #expect(try await fixture.page().questions.map(\.votes) == [1, 0])
            // A question that others don't see can't be voted for.
            _ = try await fixture.moderate(second, .dismiss)
            #expect(try await fixture.vote(second, ada) == .refused(.noSuchQuestion))
        }
    }

    @Test("A full table of votes accepts only removals")
    func fullVotes() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            var storage = StorageLimits()
            storage.votes = 2
            let fixture = try await QuestionSessionFixture(database, storage: storage)
            let question = try await fixture.ask("Why?")
            let voters = (0..<4).map { _ in UUID() }
            for voter in voters.prefix(2) { _ = try await fixture.vote(question, voter) }
            let outcomes = try await fixture.store.count(
                [(2, true), (0, false), (3, true), (1, false)].map {
                    Vote(session: fixture.session.id, question: question, voter: voters[$0.0], isFor: $0.1)
                })
            let version = try await fixture.page().session.version
            let (full, counted) = (
                QuestionStore.VoteOutcome.refused(.storageFull(.votes)),
                QuestionStore.VoteOutcome.counted(version: version)
            )
            #expect(outcomes == [full, counted, full, counted])
            #expect(try await fixture.page().questions.map(\.votes) == [0])
            #expect(try await fixture.vote(question, voters[2]) == full)
        }
    }

    @Test("A reader that continues from a version gets every later change once")
    func changes() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now, connections: 4) { database in
            let fixture = try await QuestionSessionFixture(database)
            let asked = try await withThrowingTaskGroup(of: UUID.self) { group in
                for number in 0..<150 { group.addTask { try await fixture.ask("\(number)") } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            var seen: [Question] = []
            let all = try await fixture.changed(after: 0)
            var marks = all.marks
            while !marks.isEmpty {
                let (part, count) = try await fixture.store.changes(marks)
                for case .asked(let question) in part.changes { seen.append(question) }
                marks.removeFirst(count)
            }
            let through = all.through
            #expect(through == all.session.version)
            #expect(Set(seen.map(\.id)) == asked && seen.count == asked.count)
            #expect(seen.map(\.version) == seen.map(\.version).sorted() && Set(seen.map(\.version)).count == 150)
            let (page, rest) = (try await fixture.page(), seen.map(\.id))
            #expect(page.more && page.questions.map(\.id) == Array(rest.prefix(100)))
            #expect(try await fixture.page(after: rest[99]).questions.map(\.id) == Array(rest.dropFirst(100)))
            #expect(try await fixture.page(after: UUID()).questions.first?.id == rest[0])

            _ = try await fixture.store.count(
                rest.prefix(10).map { Vote(session: fixture.session.id, question: $0, voter: UUID(), isFor: true) })
            _ = try await fixture.moderate(rest[20], .answer)
            let announced = try AnnouncementRequest(content: "Tea!", recipients: .allBut([UUID(), UUID()]))
            _ = try await fixture.store.announce(announced, in: fixture.session.id, keys: fixture.keys)
            let later = try await fixture.changed(after: through)
            #expect(later.marks.count == 11 && later.marks.count { $0.isVoted } == 10)
            #expect(later.announced == later.session.version)
            #expect(try await fixture.changes(after: through).answers.map(\.question) == [rest[20]])
            let announcements = try await fixture.store.announcements(in: fixture.session.id, after: through)
            #expect(announcements.announcements.map(\.recipients) == [announced.recipients])
            #expect(announcements.through == later.announced)
            #expect(later.through == later.session.version && later.through == through + 12)
            #expect(try await fixture.changed(after: later.through).marks.isEmpty)
            #expect(
                try await fixture.store.announcements(in: fixture.session.id, after: later.through).announcements
                    .isEmpty)
            // A question with new votes is reported with its current state; a deleted answer isn't.
            _ = try await fixture.vote(rest[20], UUID())
            let voted = try await fixture.changed(after: later.through)
            #expect(voted.marks == [ChangedQuestions.Mark(question: rest[20], isVoted: true)])
            _ = try await fixture.moderate(rest[20], .reopen)
            #expect(try await fixture.changes(after: through).answers.isEmpty)
        }
    }

    @Test("A page ends at 32 KiB, and the rest follows")
    func pageBytes() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let fixture = try await QuestionSessionFixture(database)
            let long = String(repeating: "é", count: 2_000)
            for _ in 0..<12 { _ = try await fixture.ask(long) }
            let page = try await fixture.page()
            #expect(page.more && (5..<12).contains(page.questions.count))
            let rest = try await fixture.page(after: page.questions.last?.id)
            #expect(!rest.more && page.questions.count + rest.questions.count == 12)
            let marks = try await fixture.changed(after: 0).marks
            let (part, count) = try await fixture.store.changes(marks)
            #expect(part.changes.count == page.questions.count && count == page.questions.count && marks.count == 12)
            // Questions deleted meanwhile count as reported.
            let others = (0..<5).map { _ in ChangedQuestions.Mark(question: UUID(), isVoted: true) }
            #expect(try await fixture.store.changes(others + marks).count == count + 5)
            #expect(try await fixture.store.changes(others) == (QuestionChanges.Part(), 5))
        }
    }

    @Test("Announcements are limited per minute and per hour")
    func announcements() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let fixture = try await QuestionSessionFixture(database)
            for number in 0..<20 { try await fixture.announce("\(number)") }
            #expect(try await code { try await fixture.announce() } == "too_many_announcements")
            _ = try await QuestionSessionFixture(database).announce()
            for minute in 1...9 {
                try await database.setClock("2026-11-22T10:0\(minute):01Z")
                for number in 0..<20 { try await fixture.announce("\(20 * minute + number)") }
            }
            try await database.setClock("2026-11-22T10:30:00Z")
            #expect(try await code { try await fixture.announce() } == "too_many_announcements")
            var (received, through) = ([String](), 0)
            while received.count < 200 {
                let some = try await fixture.store.announcements(in: fixture.session.id, after: through)
                if some.announcements.isEmpty { break }
                received += some.announcements.map(\.content)
                through = some.through
            }
            #expect(received == (0..<200).map { "\($0)" })
            try await database.setClock("2026-11-22T11:30:00Z")
            try await fixture.announce()
        }
    }
}
