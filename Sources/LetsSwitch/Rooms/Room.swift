import FoundationEssentials

/// What the connections of one room share. On the room's loop.
///
/// Ales are counted as they come in, and sent once at the end of the loop's turn: a member is owed all of the turn's but
/// those that it is exempt from. So an ale costs two additions, and each member one `send` a turn, however many ales
/// meet in it.
final class Room {
    let id: UUID
    /// Ales of this turn that nobody has been sent yet.
    var ales: UInt32 = 0

    init(id: UUID) {
        self.id = id
    }
}
