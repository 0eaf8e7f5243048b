import Rooms
import Sockets

/// A subscriber's connections on its loop: to its session's room, where changes are published, and to the session's
/// hall, whose members are counted.
struct SessionPlace {
    private let connection: Connection
    private let member: Member

    init(of subscriber: QuestionSubscriber, _ sink: any QuestionSink, in questions: Questions, on reactor: Reactor) {
        let (who, rooms) = (subscriber.member, questions.rooms)
        connection = rooms.subscribe(subscriber, to: questions.room(of: who.session), on: reactor)
        let sender = sink.sender ?? rooms.shard(on: reactor).makeSender()
        member = sender.enter(
            questions.hall(of: who.session), subscriber, policy: .hall,
            claimedIdentity: who.device == nil ? nil : who.id
        ) { _ in }
        // Everybody in the session is counted. Live subscribers receive the count.
        if who.isLive, sink.wantsPresence { member.watchPresence() }
    }

    func leave(_ questions: Questions) {
        questions.rooms.unsubscribe(connection)
        member.leave()
    }
}
