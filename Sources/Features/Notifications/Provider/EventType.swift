/// The type of an event, as receivers of the webhook see it.
enum EventType: String, CaseIterable {
    case taskRegistered = "task.registered"
    case taskRetitled = "task.retitled"
    case taskCancelled = "task.cancelled"
    case taskMoved = "task.moved"
    case matchCreated = "match.created"
    case matchEnded = "match.ended"
    case roomOpened = "room.opened"
    case roomJoined = "room.joined"
    case roomLeft = "room.left"
    case roomClosed = "room.closed"
    case deviceErased = "device.erased"
}
