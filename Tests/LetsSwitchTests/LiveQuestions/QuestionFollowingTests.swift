import Domain
import Foundation
import Messaging
import Observability
import Postgres
import Rooms
import ScheduleTestSupport
import Server
import Sockets
import TestSupport
import Testing

@testable import Access
@testable import LetsSwitch
@testable import LiveQuestions

/// A session without sockets, on a database.
@Suite struct QuestionFollowingTests {
    private final class Sink: QuestionSink {
        let heard: EventRecorder<String>

        init(_ heard: EventRecorder<String>) { self.heard = heard }

        var webSocket: WebSocket? { nil }
        func send(_ event: QuestionEvent) { heard.append(event.type) }
        func send(announcement index: Int, of publication: QuestionPublication, _ shared: Publication) {
            heard.append("announcement")
        }
        func send(_ publication: QuestionPublication, _ shared: Publication, forPresenter: Bool) {
            for event in publication.events(forPresenter: forPresenter) { heard.append(event.type) }
        }
        func end(_ code: QuestionSinkEnd) { heard.append("the end") }
    }

    @Test("What changes once somebody has the list is told, also where the session couldn't be followed at first")
    func late() async throws {
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
                messageRates: DeviceMessageRates(perSecond: 20, burst: 200), metrics: QuestionMetrics(),
                log: Log(level: .error, format: nil))
            let session = try await store.makeSession(
                SessionRequest(device: DeviceID("speaker"), title: "Tea", isModerated: false), key: .random())
            // The database is away for a moment: a sequence counts who asks, because it keeps what is rolled back.
            let function = "letsswitch.list_questions(p_session uuid, p_after uuid, p_all boolean, p_limit integer)"
            let types = "(uuid, uuid, boolean, integer)"
            try await database.run("ALTER FUNCTION letsswitch.list_questions\(types) RENAME TO list_later")
            try await database.run("CREATE SEQUENCE letsswitch.asked")
            try await database.run(
                """
                CREATE FUNCTION \(function) RETURNS SETOF letsswitch.question LANGUAGE plpgsql AS $$
                BEGIN
                    PERFORM nextval('letsswitch.asked');
                    RAISE EXCEPTION 'not yet';
                END
                $$
                """)
            let heard = EventRecorder<String>()
            let member = try questions.member(of: session.id, .none, isPresenter: false, isLive: true)
            await loop.run { reactor in
                _ = questions.shard(on: reactor, loop: loop).enter(member, Sink(heard))
            }
            try await eventually("somebody has asked for the session") {
                try await database.run("SELECT is_called FROM letsswitch.asked")[0].boolean("is_called")
            }
            try await database.run("DROP FUNCTION letsswitch.list_questions\(types)")
            try await database.run("ALTER FUNCTION letsswitch.list_later\(types) RENAME TO list_questions")
            try await heard.next("the list") { $0 == "questions" }
            let stranger = try questions.member(of: session.id, .none, isPresenter: false, isLive: false)
            _ = await questions.perform(.ask(id: stranger.id, content: "Why?"), for: stranger)
            try await heard.next("the question") { $0 == "question" }
            await loop.stop()
        }
    }
}
