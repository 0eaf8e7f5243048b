import Access
import ActionCable
import Domain
import FoundationEssentials
import Wire

/// A match's room: the channel `{"channel":"RoomChannel","id":"<room>"}`. It works like `/socket?id=<room>`. With
/// `"presence":true` it sends the number of people.
struct RoomChannel: CableChannel {
    let name: StaticString = "RoomChannel"
    let matches: MatchRooms

    func subscribe(
        _ parameters: CableParameters, _ transport: SubscriptionTransport
    ) throws(CableRejection) -> any CableSubscription {
        guard let room = parameters.text("id").flatMap(UUID.init(text:)) else { throw CableRejection() }
        let identity = try parameters.identity(of: transport)
        guard identity.allows(.room(room)) else { throw CableRejection() }
        let subscription = RoomSubscription(
            to: room, matches, by: transport,
            person: parameters.text("taskId").flatMap(UUID.init(text:)).map { .task($0) }
                ?? identity.device.map { .device($0) },
            wantsPresence: parameters.isTrue("presence"))
        subscription.open()
        return subscription
    }
}
