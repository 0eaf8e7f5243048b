import Rooms

/// How far a daemon that has just begun is among the others. A value.
///
/// | knows who lives | has a bus      | then it has arrived                                   |
/// |-----------------|----------------|-------------------------------------------------------|
/// | no              |                | no                                                    |
/// | yes             | needs none     | yes                                                   |
/// | yes             | and it stands  | once each that it is shared with has told all its rooms |
struct BusArrival {
    /// From when the bus stands on. The others tell at once where theirs stands, and soon where it begins since we have come; of one that
    /// died just now, whose row is still there, nothing comes.
    static let patience = Duration.milliseconds(250)

    var hasLooked = false
    var isConnected = false
    var introduced: Set<DaemonID> = []

    func isOver(hasBus: Bool, partners: Set<DaemonID>) -> Bool {
        hasLooked && (!hasBus || isConnected && partners.isSubset(of: introduced))
    }
}
