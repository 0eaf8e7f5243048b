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
///
/// Those of a kind are counted apart, in the same way: one `send` a turn for each kind. A connection has one number for what it is exempt
/// from; what belongs there of a kind is kept with the kind's count until it is that kind's turn.
struct AleCount {
    fileprivate var value: UInt32 = 0
}

/// Ales of kinds, in one turn of a loop. Most rooms have none, so it isn't in the room's own memory.
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

    /// It is this kind's turn.
    fileprivate func applyExemptions(from kind: CheerKind) {
        for exemption in exemptions where exemption.kind == kind {
            exemption.connection.exempt.value += exemption.count
        }
    }
}

extension Room {
    var hasAles: Bool { ales.value > 0 || cheers != nil }

    /// An ale came: for all but its sender.
    func count(aleFrom sender: Connection, of kind: CheerKind) {
        guard kind == .plain else { return count(1, of: kind, exempting: CollectionOfOne(sender)) }
        ales.value += 1
        sender.exempt.value += 1
    }

    /// Ales came from a sender with several places in the room: for all but these.
    func count(_ count: UInt32, of kind: CheerKind, exempting places: some Collection<Connection>) {
        guard kind == .plain else {
            let cheers = self.cheers ?? CheerCounts()
            self.cheers = cheers
            cheers[kind] += count
            for place in places { cheers.exempt(place, from: count, of: kind) }
            return
        }
        ales.value += count
        for place in places { place.exempt.value += count }
    }

    /// Ales came from another daemon, for all. Nothing else is counted in the room now, nor until they are settled.
    func count(alesFromElsewhere count: UInt32, of kind: CheerKind) {
        self.count(count, of: kind, exempting: EmptyCollection())
    }

    /// Those that other daemons are to be told of.
    func forEachKind(_ body: (UInt32, CheerKind) -> Void) {
        if ales.value > 0 { body(ales.value, .plain) }
        guard let cheers else { return }
        for kind in CheerKind.special where cheers[kind] > 0 { body(cheers[kind], kind) }
    }

    /// Who comes now is owed nothing of before.
    func exempt(_ newcomer: Connection) {
        newcomer.exempt = ales
        guard let cheers else { return }
        for kind in CheerKind.special where cheers[kind] > 0 { cheers.exempt(newcomer, from: cheers[kind], of: kind) }
    }

    /// Sends each member what it is owed. O(members), which is the point.
    ///
    /// - Parameter frames: One for each kind.
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
            // The array holds its members as long as this takes, so nobody has to count it.
            Unmanaged.passUnretained(members[index])._withUnsafeGuaranteedRef { member in
                let owed = ales - member.exempt.value
                member.exempt.value = 0
                if owed > 0 { member.peer.deliver(ales: Int(owed), of: kind, frame: frame) }
            }
        }
    }

    /// Forgets them, when nobody is left to be sent any.
    func forgetAles() {
        ales.value = 0
        cheers = nil
    }
}
