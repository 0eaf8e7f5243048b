import Rooms
import Sockets

/// A subscriber's two connections to rooms on its loop. Changes are published in the session's room. The members of the
/// session's audience room are counted.
struct SessionMembership {
    private let connection: Connection
    private let member: Member

    init(
        of subscriber: QuestionSubscriber, _ transport: any QuestionTransport, in questions: Questions,
        on reactor: Reactor
    ) {
        let (subscribing, rooms) = (subscriber.member, questions.rooms)
        connection = rooms.subscribe(subscriber, to: questions.room(of: subscribing.session), on: reactor)
        let sender = transport.sender ?? rooms.shard(on: reactor).makeSender()
        member = sender.enter(
            questions.audienceRoom(of: subscribing.session), subscriber, policy: .audience,
            claimedIdentity: subscribing.device == nil ? nil : subscribing.id
        ) { _ in }
        // All subscribers are counted. Only live ones receive the number.
        if subscribing.isLive, transport.wantsPresence { member.watchPresence() }
    }

    func leave(_ questions: Questions) {
        questions.rooms.unsubscribe(connection)
        member.leave()
    }
}
