import Sockets

/// A number of ales in one turn of a loop.
///
/// All ales are the same bytes, so none is stored. In a turn a room counts its ales. Each connection counts the ales
/// that it must not receive: its own ales, and those sent before it entered. At the end of the turn each connection
/// receives one frame, repeated as often as
/// ```
///     owed = ales − exempt
/// ```
/// Therefore an ale costs two additions, and each member costs one `send` per turn, however many ales were sent. The
/// whole rule is in this file.
///
/// Ales of special kinds are counted separately in the same way, with one `send` per turn and kind. A connection has
/// one exempt number. The exemptions of a special kind are stored with the count of that kind until that kind is
/// settled.
struct AleCount {
    fileprivate var value: UInt32 = 0
}

/// Counts of ales of special kinds in one turn. Most rooms have none, so the counts are separate from the room.
final class CheerCounts {
    private struct Exemption {
        let connection: Connection
        let kind: CheerKind
        var count: UInt32
    }

    private var ales = [UInt32](repeating: 0, count: CheerKind.allCases.count)
    private var exemptions: [Exemption] = []

    fileprivate subscript(kind: CheerKind) -> UInt32 {
        get { ales[Int(kind.rawValue)] }
        set { ales[Int(kind.rawValue)] = newValue }
    }

    fileprivate func exempt(_ connection: Connection, from count: UInt32, of kind: CheerKind) {
        if let last = exemptions.indices.last, exemptions[last].connection === connection, exemptions[last].kind == kind
        {
            exemptions[last].count += count
        } else {
            exemptions.append(Exemption(connection: connection, kind: kind, count: count))
        }
    }

    /// Moves the exemptions of this kind to the connections, before the kind is settled.
    fileprivate func applyExemptions(from kind: CheerKind) {
        for exemption in exemptions where exemption.kind == kind {
            exemption.connection.exempt.value += exemption.count
        }
    }
}

extension Room {
    var hasAles: Bool { ales.value > 0 || cheers != nil }

    /// Counts an ale for all members except its sender.
    func count(aleFrom sender: Connection, of kind: CheerKind) {
        guard kind == .plain else { return count(1, of: kind, exempting: CollectionOfOne(sender)) }
        ales.value += 1
        sender.exempt.value += 1
    }

    /// Counts ales of a sender that has several connections in the room. Only the other connections receive the ales.
    func count(_ count: UInt32, of kind: CheerKind, exempting members: some Collection<Connection>) {
        guard kind == .plain else {
            let cheers = self.cheers ?? CheerCounts()
            self.cheers = cheers
            cheers[kind] += count
            for member in members { cheers.exempt(member, from: count, of: kind) }
            return
        }
        ales.value += count
        for member in members { member.exempt.value += count }
    }

    /// Counts ales of another daemon, for all members. No other ales may be counted in the room before these are
    /// settled.
    func count(alesFromElsewhere count: UInt32, of kind: CheerKind) {
        self.count(count, of: kind, exempting: EmptyCollection())
    }

    /// Calls `body` for each kind with ales, for the other daemons.
    func forEachKind(_ body: (UInt32, CheerKind) -> Void) {
        if ales.value > 0 { body(ales.value, .plain) }
        guard let cheers else { return }
        for kind in CheerKind.special where cheers[kind] > 0 { body(cheers[kind], kind) }
    }

    /// Makes sure that a new member doesn't receive ales sent before it joined.
    func exempt(_ newcomer: Connection) {
        newcomer.exempt = ales
        guard let cheers else { return }
        for kind in CheerKind.special where cheers[kind] > 0 { cheers.exempt(newcomer, from: cheers[kind], of: kind) }
    }

    /// Sends each member the ales it is owed. O(members), because each member needs its own `send`.
    ///
    /// - Parameter frames: One frame for each kind.
    func settle(with members: UnsafeBufferPointer<Connection>, frames: [SharedBytes]) {
        let ales = ales.value
        self.ales.value = 0
        if ales > 0 { settle(ales, of: .plain, with: members, frame: frames[0]) }
        guard let cheers else { return }
        self.cheers = nil
        for kind in CheerKind.special where cheers[kind] > 0 {
            cheers.applyExemptions(from: kind)
            settle(cheers[kind], of: kind, with: members, frame: frames[Int(kind.rawValue)])
        }
    }

    private func settle(
        _ ales: UInt32, of kind: CheerKind, with members: UnsafeBufferPointer<Connection>, frame: SharedBytes
    ) {
        for index in members.indices {
            // The array keeps its members alive, so the loop needs no reference counting.
            Unmanaged.passUnretained(members[index])._withUnsafeGuaranteedRef { member in
                let owed = ales - member.exempt.value
                member.exempt.value = 0
                if owed > 0 { member.peer.deliver(ales: Int(owed), of: kind, frame: frame) }
            }
        }
    }

    /// Drops the counted ales, because the room has no members.
    func removeAles() {
        ales.value = 0
        cheers = nil
    }
}
