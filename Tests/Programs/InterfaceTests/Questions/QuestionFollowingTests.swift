import Basics
import Domain
import Foundation
import JourneyTestSupport
import Observability
import Postgres
import Rooms
import ScheduleTestSupport
import Server
import Sockets
import TestSupport
import Testing

@testable import Access
@testable import Questions

/// A session without sockets, on a database.
@Suite struct QuestionFollowingTests {
    private final class Transport: QuestionTransport {
        let received: EventRecorder<String>
        /// The session's member keeps the subscriber alive.
        weak var subscriber: QuestionSubscriber?

        init(_ received: EventRecorder<String>) { self.received = received }

        var requester: Requester? { nil }
        var wantsPresence: Bool { true }
        func admitsMessage() -> Bool { true }
        func send(presence count: Int, _ shared: Publication) { received.append("\(count) here") }
        func send(_ event: QuestionEvent) { received.append(event.type) }
        func send(announcement index: Int, of published: PublishedQuestions) {
            received.append("announcement")
        }
        func send(_ published: PublishedQuestions, forPresenter: Bool) {
            for event in published.publication.events(forPresenter: forPresenter) { received.append(event.type) }
        }
        func reportDrain() { subscriber?.drained() }
        func awaitTurn() { subscriber?.hasTurn() }
        func endTurn() {}
        func end(_ code: QuestionSubscriber.End) { received.append("the end, \(code)") }
    }

    /// The time by which tickets expire. It is long ago.
    private static let now = 1_000.0

    /// A question session, on its own loop.
    private struct SessionFixture {
        let database: ScheduleDatabase
        let questions: Questions
        let loop: EventLoop
        let session: UUID

        func makeSession() async throws -> UUID {
            try await questions.store.makeSession(
                SessionRequest(device: DeviceID("speaker"), title: "Tea", isModerated: false), key: .random()
            ).id
        }

        /// Makes a person join and subscribe to the session.
        func enter(_ session: UUID, _ received: EventRecorder<String>, as identity: Identity = .none) async throws {
            await enter(try questions.member(of: session, identity, isPresenter: false, isLive: true), received)
        }

        func enter(_ member: QuestionMember, _ received: EventRecorder<String>) async {
            await loop.run { [questions, loop] reactor in
                let transport = Transport(received)
                transport.subscriber = questions.shard(on: reactor, loop: loop).enter(member, transport)
            }
        }

        /// Makes all people leave.
        func leave(_ session: UUID) async {
            await loop.run { [questions, loop] reactor in
                let shard = questions.shard(on: reactor, loop: loop)
                let connections = questions.rooms.shard(on: reactor).connections(of: questions.room(of: session))
                for connection in connections {
                    if let subscriber = connection.peer as? QuestionSubscriber { shard.leave(subscriber) }
                }
            }
        }
    }

    private func withFixture(_ body: (SessionFixture) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let loops = try EventLoopGroup(count: 1)
            let loop = loops.loops[0]
            await loop.start()
            let rooms = Rooms(loops: loops.loops, anyRoomIsOpen: false, aleFrame: { _ in [] }, report: { _ in })
            let store = QuestionStore(
                database: database.client, settings: QuestionSettings(), storage: StorageQuota())
            let questions = Questions(
                store: store, rooms: rooms, keys: RoomKeys(), loops: loops.loops,
                executor: globalConcurrentExecutor, sessionSize: 10,
                questionRates: QuestionRates(questionsPerSession: 100),
                messageRates: DeviceMessageRates(perSecond: 20, burst: 200),
                metrics: QuestionMetrics(quotas: CounterSet()),
                log: Log(level: .error, format: nil), now: { Self.now })
            let session = try await store.makeSession(
                SessionRequest(device: DeviceID("speaker"), title: "Tea", isModerated: false), key: .random())
            try await body(SessionFixture(database: database, questions: questions, loop: loop, session: session.id))
            await loop.stop()
        }
    }

    /// Makes a person join while the session can't be read. Returns after one attempt to read it.
    private func enterBlindly(_ fixture: SessionFixture, _ enter: () async throws -> Void) async throws {
        let database = fixture.database
        // The database fails for a moment. A sequence counts the queries, since it isn't rolled back.
        let types = "(uuid, uuid, boolean, integer)"
        try await database.run("ALTER FUNCTION questions.list_questions\(types) RENAME TO list_later")
        try await database.run("CREATE SEQUENCE letsswitch.asked")
        try await database.run(
            """
            DO $do$ BEGIN EXECUTE format(
                'CREATE FUNCTION questions.list_questions(%s) RETURNS %s LANGUAGE plpgsql AS %L',
                pg_get_function_arguments('questions.list_later'::regproc),
                pg_get_function_result('questions.list_later'::regproc),
                $$ BEGIN PERFORM nextval('letsswitch.asked'); RAISE EXCEPTION 'not yet'; END $$);
            END $do$
            """)
        try await enter()
        try await eventually("somebody has asked for the session") {
            try await database.run("SELECT is_called FROM letsswitch.asked")[0].boolean("is_called")
        }
        try await database.run("DROP FUNCTION questions.list_questions\(types)")
        try await database.run("ALTER FUNCTION questions.list_later\(types) RENAME TO list_questions")
    }

    @Test("Changes after the list are sent, even if the session couldn't be read at first")
    func late() async throws {
        try await withFixture { fixture in
            let received = EventRecorder<String>()
            try await enterBlindly(fixture) { try await fixture.enter(fixture.session, received) }
            try await received.next("the list") { $0 == "questions" }
            let stranger = try fixture.questions.member(of: fixture.session, .none, isPresenter: false, isLive: false)
            _ = await fixture.questions.responder.perform(.ask(id: stranger.id, content: "Why?"), for: stranger) { _ in
            }
            try await received.next("the question") { $0 == "question" }
        }
    }

    @Test("A question asked before the session is read gets its answer")
    func early() async throws {
        try await withFixture { fixture in
            let (received, questions) = (EventRecorder<String>(), fixture.questions)
            let asker = try questions.member(of: QuestionSession.open.id, .none, isPresenter: true, isLive: false)
            try await enterBlindly(fixture) { await fixture.enter(asker, received) }
            let events = await questions.responder.perform(.ask(id: asker.id, content: "Why?"), for: asker) { _ in }
            guard case .accepted(let question, _, _) = events.first else {
                Issue.record("\(events)")
                return
            }
            _ = try await SessionModeration(questions: questions)
                .moderate(question, .answer, answer: nil, keys: [], opensAll: true)
            try await received.next("the answer") { $0 == "questionAnswer" }
        }
    }

    @Test("Only the session that the last member leaves is closed")
    func lastOne() async throws {
        try await withFixture { fixture in
            let (feeds, other) = (fixture.questions.feeds, try await fixture.makeSession())
            // A person is about to join the other session.
            for session in [fixture.session, other] { _ = try await feeds.open(session) }
            let received = EventRecorder<String>()
            try await fixture.enter(fixture.session, received)
            try await received.next("the list") { $0 == "session" }
            await fixture.leave(fixture.session)
            try await eventually("it is forgotten") { feeds.entrances[fixture.session] == nil }
            #expect(feeds.entrances[other] != nil)
        }
    }

    @Test(
        "A device counts once, and each connection without a device counts")
    func presence() async throws {
        try await withFixture { fixture in
            let received = EventRecorder<String>()
            try await fixture.enter(fixture.session, received)
            try await received.next("itself") { $0 == "1 here" }
            let ada = Identity.device(try DeviceID("ada"))
            for identity in [ada, ada, .none] {
                try await fixture.enter(fixture.session, EventRecorder<String>(), as: identity)
            }
            try await received.next("all of them") { $0 == "3 here" }
            // Nobody is in the other session.
            let other = EventRecorder<String>()
            try await fixture.enter(try await fixture.makeSession(), other)
            let alone = try await other.next("itself") { $0.hasSuffix("here") }
            #expect(alone == "1 here")
            await fixture.leave(fixture.session)
            let late = EventRecorder<String>()
            try await fixture.enter(fixture.session, late)
            let left = try await late.next("who is there now") { $0.hasSuffix("here") }
            #expect(left == "1 here")
        }
    }

    @Test("A ticket expires by the clock of tickets")
    func expiry() async throws {
        try await withFixture { fixture in
            for (end, what) in [(Self.now, "the end, expired"), (Self.now + 1_000, "questions")] {
                let (ticket, received) = (Ticket(device: try DeviceID("ada"), expiry: end), EventRecorder<String>())
                try await fixture.enter(fixture.session, received, as: .ticket(ticket))
                let first = try await received.next("what becomes of it") {
                    $0 == "questions" || $0.hasPrefix("the end")
                }
                #expect(first == what)
            }
        }
    }

    @Test("Members of a deleted session are notified")
    func deleted() async throws {
        try await withFixture { fixture in
            _ = try await fixture.questions.feeds.open(fixture.session)
            try await fixture.database.run("DELETE FROM questions.question_session")
            let received = EventRecorder<String>()
            try await fixture.enter(fixture.session, received)
            try await received.next("the end") { $0 == "the end, gone" }
        }
    }
}
