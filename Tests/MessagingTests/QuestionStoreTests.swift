import Domain
import Foundation
import Postgres
import ScheduleTestSupport
import Scheduling
import TestSupport
import Testing

@testable import Messaging

@Suite struct QuestionStoreTests {
    private static let now = "2026-11-22T10:00:00Z"

    /// A store, and a session in it with its presenter's key.
    private struct Hall {
        let store: QuestionStore
        let session: QuestionSession
        let keys: [PresenterKeyDigest]

        init(
            _ database: ScheduleDatabase, moderated: Bool = false, settings: QuestionSettings = QuestionSettings(),
            storage: StorageLimits = StorageLimits()
        ) async throws {
            store = QuestionStore(database: database.client, settings: settings, storage: StorageQuota(storage))
            let key = try PresenterKey.random()
            session = try await store.makeSession(
                SessionRequest(device: DeviceID("speaker"), title: "Tea", isModerated: moderated), key: key)
            keys = [try key.digest()]
        }

        func ask(
            _ content: String, _ asker: UUID = UUID(), device: String? = nil, present: Duration = .zero
        ) async throws -> UUID {
            try await store.ask(
                content, in: session.id, asker: asker, device: device.map { try DeviceID($0) }, present: present
            ).id
        }

        func changed(after version: Int) async throws -> ChangedQuestions {
            try #require(try await store.changed(in: session.id, after: version))
        }

        func changes(after version: Int) async throws -> QuestionChanges.Part {
            try await store.changes(try await changed(after: version).marks).0
        }

        func announce(_ content: String = "Tea!", to recipients: Recipients = .all) async throws {
            _ = try await store.announce(
                AnnouncementRequest(content: content, recipients: recipients), in: session.id, keys: keys)
        }

        func moderate(_ question: UUID, _ action: QuestionAction, answer: String? = nil) async throws -> Question {
            try await store.moderate(question, action, answer: answer, keys: keys, opensAll: false).question
        }

        func vote(_ question: UUID, _ voter: UUID, isFor: Bool = true) async throws -> QuestionStore.VoteOutcome {
            try await store.count([Vote(session: session.id, question: question, voter: voter, isFor: isFor)])[0]
        }

        func page(after last: UUID? = nil, all: Bool = true) async throws -> QuestionPage {
            try #require(try await store.page(of: session.id, after: last, all: all))
        }
    }

    private func code(_ body: () async throws -> Void) async throws -> String? {
        do {
            try await body()
            return nil
        } catch let error as RequestError {
            return error.code
        }
    }

    @Test("A question is pending or approved at first; moderating goes every way, and says what became of it")
    func states() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            for isModerated in [false, true] {
                let hall = try await Hall(database, moderated: isModerated)
                let first: Question.State = isModerated ? .pending : .approved
                let asker = UUID()
                let id = try await hall.ask("Why?", asker)
                let asked = try #require(try await hall.page().questions.first)
                #expect(asked.state == first && asked.askedFrom == asker && !asked.answered && asked.votes == 0)
                #expect(asked.askedAt == Instant(Self.now))
                #expect(try await hall.page(all: false).questions.map(\.id) == (isModerated ? [] : [id]))
                #expect(try await hall.moderate(id, .approve).state == .approved)
                #expect(try await hall.moderate(id, .dismiss).state == .dismissed)
                #expect(try await hall.page(all: false).questions.isEmpty)
                let reopened = try await hall.moderate(id, .reopen)
                #expect(reopened.state == first)
                let answered = try await hall.moderate(id, .answer, answer: "Because.")
                #expect(answered.answered && answered.answer == "Because." && answered.state == first)
                #expect(answered.version > reopened.version)
                // A second answer changes nothing.
                #expect(try await hall.moderate(id, .answer, answer: "No.") == answered)
                let again = try await hall.moderate(id, .reopen)
                #expect(!again.answered && again.answer == nil && again.version == answered.version + 1)
            }
        }
    }

    @Test(
        "Without the key nothing is moderated, opened, closed or announced; with it, nothing but opening is done to a closed session"
    )
    func refusals() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            let hall = try await Hall(database)
            let other = try await Hall(database)
            let id = try await hall.ask("Why?")
            let announcement = try AnnouncementRequest(content: "Tea!", recipients: .all)
            for keys in [[], other.keys] {
                for action in QuestionAction.allCases {
                    #expect(
                        try await code { _ = try await hall.store.moderate(id, action, keys: keys, opensAll: true) }
                            == "presenter_only")
                }
                #expect(
                    try await code { _ = try await hall.store.set(hall.session.id, to: .closed, keys: keys) }
                        == "presenter_only")
                #expect(
                    try await code { _ = try await hall.store.announce(announcement, in: hall.session.id, keys: keys) }
                        == "presenter_only")
            }
            let keys = other.keys + hall.keys
            #expect(try await hall.store.set(hall.session.id, to: .closed, keys: keys).state == .closed)
            for action in QuestionAction.allCases {
                #expect(
                    try await code { _ = try await hall.store.moderate(id, action, keys: keys, opensAll: false) }
                        == "session_closed")
            }
            #expect(try await code { _ = try await hall.ask("And?") } == "session_closed")
            #expect(
                try await code { _ = try await hall.store.announce(announcement, in: hall.session.id, keys: keys) }
                    == "session_closed")
            #expect(try await hall.vote(id, UUID()) == .refused(.sessionClosed))
            #expect(try await hall.store.set(hall.session.id, to: .open, keys: keys).state == .open)
            _ = try await hall.ask("And?")
            #expect(
                try await code { _ = try await hall.store.moderate(UUID(), .answer, keys: keys, opensAll: true) }
                    == "no_such_question")
            #expect(
                try await code { _ = try await hall.store.set(UUID(), to: .open, keys: keys) } == "no_such_session")
            #expect(
                try await code { _ = try await hall.store.announce(announcement, in: UUID(), keys: keys) }
                    == "no_such_session")
            #expect(
                try await code { _ = try await hall.store.ask("?", in: UUID(), asker: UUID(), device: nil) }
                    == "no_such_session")
            #expect(try await hall.store.page(of: UUID(), all: true) == nil)
        }
    }

    @Test("The open session is everybody's, if the daemon has one; else its questions aren't there")
    func openSession() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
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

    @Test("Votes count once for each voter and question, whatever order they come in and however often")
    func votes() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            let hall = try await Hall(database)
            let other = try await Hall(database)
            let (first, second) = (try await hall.ask("Why?"), try await hall.ask("How?"))
            let foreign = try await other.ask("Who?")
            let (ada, bob) = (UUID(), UUID())
            func vote(_ question: UUID, _ voter: UUID, _ isFor: Bool = true, in hall: Hall) -> Vote {
                Vote(session: hall.session.id, question: question, voter: voter, isFor: isFor)
            }
            let outcomes = try await hall.store.count([
                vote(first, ada, in: hall), vote(first, ada, in: hall), vote(first, bob, in: hall),
                vote(second, bob, in: hall), vote(second, bob, false, in: hall), vote(UUID(), bob, in: hall),
                // Of a session it isn't in, and of none.
                vote(foreign, bob, in: hall), vote(foreign, bob, in: other),
                Vote(session: UUID(), question: first, voter: UUID(), isFor: true),
            ])
            for (index, outcome) in outcomes.enumerated() {
                let isRefused = [5, 6, 8].contains(index)
                #expect(isRefused == (outcome == .refused(.noSuchQuestion)), "\(index): \(outcome)")
            }
            #expect(try await hall.page().questions.map(\.votes) == [2, 0])
            #expect(try await other.page().questions.map(\.votes) == [1])
            _ = try await hall.vote(first, ada, isFor: false)
            let version = try await hall.page().session.version
            // Taken back twice.
            #expect(try await hall.vote(first, ada, isFor: false) == .counted(version: version))
            #expect(try await hall.page().questions.map(\.votes) == [1, 0])
            // What others don't see can't be voted for.
            _ = try await hall.moderate(second, .dismiss)
            #expect(try await hall.vote(second, ada) == .refused(.noSuchQuestion))
        }
    }

    @Test("Whoever reads on from a version gets every later change once, in order, also when many come at once")
    func changes() async throws {
        try await ScheduleDatabase.with(now: Self.now, connections: 4) { database in
            let hall = try await Hall(database)
            let asked = try await withThrowingTaskGroup(of: UUID.self) { group in
                for number in 0..<150 { group.addTask { try await hall.ask("\(number)") } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            var seen: [Question] = []
            let all = try await hall.changed(after: 0)
            var marks = all.marks
            while !marks.isEmpty {
                let (part, count) = try await hall.store.changes(marks)
                for case .asked(let question) in part.changes { seen.append(question) }
                marks.removeFirst(count)
            }
            let through = all.through
            #expect(through == all.session.version)
            #expect(Set(seen.map(\.id)) == asked && seen.count == asked.count)
            #expect(seen.map(\.version) == seen.map(\.version).sorted() && Set(seen.map(\.version)).count == 150)
            let (page, rest) = (try await hall.page(), seen.map(\.id))
            #expect(page.more && page.questions.map(\.id) == Array(rest.prefix(100)))
            #expect(try await hall.page(after: rest[99]).questions.map(\.id) == Array(rest.dropFirst(100)))
            #expect(try await hall.page(after: UUID()).questions.first?.id == rest[0])

            _ = try await hall.store.count(
                rest.prefix(10).map { Vote(session: hall.session.id, question: $0, voter: UUID(), isFor: true) })
            _ = try await hall.moderate(rest[20], .answer)
            let announced = try AnnouncementRequest(content: "Tea!", recipients: .allBut([UUID(), UUID()]))
            _ = try await hall.store.announce(announced, in: hall.session.id, keys: hall.keys)
            let later = try await hall.changed(after: through)
            #expect(later.marks.count == 11 && later.marks.count { $0.isVoted } == 10)
            #expect(later.announced == later.session.version)
            #expect(try await hall.changes(after: through).answers.map(\.question) == [rest[20]])
            let announcements = try await hall.store.announcements(in: hall.session.id, after: through)
            #expect(announcements.announcements.map(\.recipients) == [announced.recipients])
            #expect(announcements.through == later.announced)
            #expect(later.through == later.session.version && later.through == through + 12)
            #expect(try await hall.changed(after: later.through).marks.isEmpty)
            #expect(
                try await hall.store.announcements(in: hall.session.id, after: later.through).announcements.isEmpty)
            // What was asked and then voted for is still told as it stands; an answer that was taken back isn't.
            _ = try await hall.vote(rest[20], UUID())
            let voted = try await hall.changed(after: later.through)
            #expect(voted.marks == [ChangedQuestions.Mark(question: rest[20], isVoted: true)])
            _ = try await hall.moderate(rest[20], .reopen)
            #expect(try await hall.changes(after: through).answers.isEmpty)
        }
    }

    @Test("A page ends at 32 KiB, and so does what has changed; the rest follows")
    func pageBytes() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            let hall = try await Hall(database)
            let long = String(repeating: "é", count: 2_000)
            for _ in 0..<12 { _ = try await hall.ask(long) }
            let page = try await hall.page()
            #expect(page.more && (5..<12).contains(page.questions.count))
            let rest = try await hall.page(after: page.questions.last?.id)
            #expect(!rest.more && page.questions.count + rest.questions.count == 12)
            let marks = try await hall.changed(after: 0).marks
            let (part, count) = try await hall.store.changes(marks)
            #expect(part.changes.count == page.questions.count && count == page.questions.count && marks.count == 12)
            // Those that were forgotten meanwhile count as told.
            let others = (0..<5).map { _ in ChangedQuestions.Mark(question: UUID(), isVoted: true) }
            #expect(try await hall.store.changes(others + marks).count == count + 5)
            #expect(try await hall.store.changes(others) == (QuestionChanges.Part(), 5))
        }
    }

    @Test(
        "Six questions a minute of one asker, so many in a session and sessions of a device; full tables take no more")
    func limits() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            var settings = QuestionSettings()
            (settings.sessionsPerDevice, settings.questionsPerSession) = (2, 8)
            let hall = try await Hall(database, settings: settings)
            let asker = UUID()
            for number in 0..<6 { _ = try await hall.ask("\(number)", asker) }
            #expect(try await code { _ = try await hall.ask("7", asker) } == "too_many_questions")
            _ = try await hall.ask("7", UUID())
            try await database.setClock("2026-11-22T10:01:01Z")
            _ = try await hall.ask("8", asker)
            #expect(try await code { _ = try await hall.ask("9", UUID()) } == "session_full")
            _ = try await Hall(database, settings: settings)
            #expect(try await code { _ = try await Hall(database, settings: settings) } == "too_many_sessions")

            var limits = StorageLimits()
            (limits.sessions, limits.questions, limits.votes) = (1, 1, 1)
            try await database.run("UPDATE letsswitch.question_session SET device_id = 'other'")
            let full = try await Hall(database, storage: limits)
            let id = try await full.ask("Why?")
            #expect(try await code { _ = try await full.ask("How?") } == "storage_full")
            _ = try await full.vote(id, UUID())
            #expect(try await full.vote(id, UUID()) == .refused(.storageFull(.votes)))
            let key = try PresenterKey.random()
            let request = try SessionRequest(device: DeviceID("ada"), title: "Tea", isModerated: false)
            #expect(try await code { _ = try await full.store.makeSession(request, key: key) } == "storage_full")
        }
    }

    @Test("Who is erased leaves no word: questions go for everybody, votes and others' questions stay")
    func erasure() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            let hall = try await Hall(database)
            let other = try await Hall(database)
            let id = try await hall.ask("Secret?", device: "ada")
            _ = try await hall.moderate(id, .answer, answer: "Secret!")
            let kept = try await hall.ask("Why?", device: "bob")
            _ = try await other.ask("Secret?", device: "ada")
            let through = try await hall.page().session.version
            #expect(try await database.erasures.erase(DeviceID("ada")).hasMore == false)
            #expect(try await hall.page().questions.map(\.id) == [kept])
            #expect(try await other.page().questions.isEmpty)
            #expect(try await hall.changes(after: through).changes == [.removed(id)])
            #expect(
                try await code { _ = try await hall.store.moderate(id, .approve, keys: hall.keys, opensAll: true) }
                    == "no_such_question")
            let left = try await database.run(
                "SELECT count(*) AS n FROM letsswitch.question WHERE content LIKE 'Secret%' OR answer LIKE 'Secret%' OR device_id = 'ada'"
            )
            #expect(try left[0].integer("n") == 0)
            _ = try await database.erasures.erase(DeviceID("speaker"))
            #expect(
                try await database.run("SELECT FROM letsswitch.question_session WHERE device_id IS NOT NULL").isEmpty)
        }
    }

    @Test("Twenty announcements a minute, two hundred an hour; whoever reads them gets all, in parts")
    func announcements() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            let hall = try await Hall(database)
            for number in 0..<20 { try await hall.announce("\(number)") }
            #expect(try await code { try await hall.announce() } == "too_many_announcements")
            _ = try await Hall(database).announce()
            for minute in 1...9 {
                try await database.setClock("2026-11-22T10:0\(minute):01Z")
                for number in 0..<20 { try await hall.announce("\(20 * minute + number)") }
            }
            try await database.setClock("2026-11-22T10:30:00Z")
            #expect(try await code { try await hall.announce() } == "too_many_announcements")
            var (heard, through) = ([String](), 0)
            while heard.count < 200 {
                let some = try await hall.store.announcements(in: hall.session.id, after: through)
                if some.announcements.isEmpty { break }
                heard += some.announcements.map(\.content)
                through = some.through
            }
            #expect(heard == (0..<200).map { "\($0)" })
            try await database.setClock("2026-11-22T11:30:00Z")
            try await hall.announce()
        }
    }

    @Test("Who came before its device was erased leaves no word after it, at whatever moment it asks")
    func askedAfterErasure() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 8) { database in
            let halls = try await [Hall(database), Hall(database), Hall(database)]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        if number == 20 {
                            _ = try await database.erasures.erase(DeviceID("ada"))
                        } else {
                            _ = try? await halls[number % 3].ask("Secret", device: "ada", present: .seconds(60))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(
                try await code { _ = try await halls[0].ask("Secret", device: "ada", present: .seconds(60)) }
                    == "device_erased")
            #expect(
                try await database.run("SELECT FROM letsswitch.question WHERE content IS NOT NULL").isEmpty)
            _ = try await halls[0].ask("Hello?", device: "ada")
            _ = try await halls[0].ask("Hello?", device: "bob", present: .seconds(60))
            try await database.run("UPDATE letsswitch.erased SET erased_at = erased_at - interval '11 minutes'")
            _ = try await database.erasures.purge(retention: 86_400)
            #expect(try await database.count("erased") == 0)
        }
    }

    @Test("After the retention questions go with their votes, then sessions; what is used stays")
    func purge() async throws {
        try await ScheduleDatabase.with(now: Self.now) { database in
            let old = try await Hall(database)
            let id = try await old.ask("Why?")
            for _ in 0..<5 { _ = try await old.vote(id, UUID()) }
            _ = try await old.store.announce(
                AnnouncementRequest(content: "Tea!", recipients: .all), in: old.session.id, keys: old.keys)
            try await database.setClock("2026-11-25T10:00:00Z")
            let new = try await Hall(database)
            _ = try await new.ask("How?")
            var rounds = 0
            while try await database.erasures.purge(retention: 86_400, limit: 2) > 0, rounds < 20 { rounds += 1 }
            #expect(try await old.store.page(of: old.session.id, all: true) == nil)
            #expect(try await new.page().questions.count == 1)
            for (table, count) in [("question", 1), ("question_vote", 0), ("announcement", 0), ("question_session", 1)]
            {
                #expect(try await database.count(table) == count, "\(table)")
            }
        }
    }
}
