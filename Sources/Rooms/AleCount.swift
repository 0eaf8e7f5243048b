import Sockets

/// A number of ales, in one turn of a loop.
///
/// Ales are the same for everybody, so nobody keeps them: within a turn, a room counts all that came, and each of its connections those
/// that are not for it, which are its own and those of before it came. At the end of the turn, each is sent
///
///     owed = ales − exempt
///
/// of one frame, in one piece. So an ale costs two additions when it comes, and each member one `send` a turn, however many ales meet
/// in it. All of that rule is in this file.
struct AleCount {
    fileprivate var value: UInt32 = 0
}

extension Room {
    var hasAles: Bool { ales.value > 0 }

    /// An ale came: for all but its sender.
    func count(aleFrom sender: Connection) {
        ales.value += 1
        sender.exempt.value += 1
    }

    /// Ales came from a sender with several places in the room: for all but these.
    func count(_ count: UInt32, exempting places: [Connection]) {
        ales.value += count
        for place in places { place.exempt.value += count }
    }

    /// Ales came from another daemon, for all. Nothing else is counted in the room now, nor until they are settled.
    func count(alesFromElsewhere count: UInt32) {
        ales.value = count
    }

    /// Those that other daemons are to be told of; nil if there are none.
    var alesOfOwnMembers: UInt32? { hasAles ? ales.value : nil }

    /// Who comes now is owed nothing of before.
    func exempt(_ newcomer: Connection) {
        newcomer.exempt = ales
    }

    /// Sends each member what it is owed. O(members), which is the point.
    func settle(with members: UnsafeBufferPointer<Connection>, frame: SharedBytes) {
        let ales = ales.value
        self.ales.value = 0
        for index in members.indices {
            // The array holds its members as long as this takes, so nobody has to count it.
            Unmanaged.passUnretained(members[index])._withUnsafeGuaranteedRef { member in
                let owed = ales - member.exempt.value
                member.exempt.value = 0
                if owed > 0 { member.peer.deliver(ales: Int(owed), frame: frame) }
            }
        }
    }

    /// Forgets them, when nobody is left to be sent any.
    func forgetAles() {
        ales.value = 0
    }
}
