import Rooms
import Sockets

/// Where a subscriber is on its loop: in its session's room, where it is told what changes, and in the session's hall, where those are
/// counted who are there.
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
        // Everybody counts, and who follows the session is told how many they are.
        if who.isLive, sink.wantsPresence { member.watchPresence() }
    }

    func leave(_ questions: Questions) {
        questions.rooms.unsubscribe(connection)
        member.leave()
    }
}
