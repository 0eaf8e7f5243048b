import Rooms

/// The progress of a new daemon until it knows the rooms of the others. A value.
///
/// ```
/// | knows the others | has a bus       | it has arrived                                  |
/// |------------------|-----------------|-------------------------------------------------|
/// | no               |                 | no                                              |
/// | yes              | needs none      | yes                                             |
/// | yes              | it is connected | after each of the others has listed its rooms   |
/// ```
struct BusArrival {
    /// The maximum wait after the bus is connected. The other daemons list their rooms as soon as they notice this
    /// daemon, or soon after their own bus connects. A daemon that has just died sends nothing, although its row still
    /// exists.
    static let patience = Duration.milliseconds(250)

    var hasLooked = false
    var isConnected = false
    var introduced: Set<DaemonID> = []

    func isOver(hasBus: Bool, partners: Set<DaemonID>) -> Bool {
        hasLooked && (!hasBus || isConnected && partners.isSubset(of: introduced))
    }
}
