extension PoolStateMachine {
    /// What the driver is to do.
    enum Action: Equatable {
        case connect(ConnectionID)
        case send(QueryID, on: ConnectionID)
        case fail(QueryID, Failure)
        /// Ask the server to cancel what the connection runs now.
        case cancelRunning(ConnectionID)
        /// Hang up, or give up opening the connection. Of one that was up, `closed` tells when the server has hung up too.
        case close(ConnectionID)
        /// The server's end isn't awaited any more.
        case forget(ConnectionID)
        /// After `shutDown`, once: no query and no connection is left.
        case stopped
    }

    enum Failure: Equatable {
        case noConnection(lastFailure: String?)
        case tooManyWaiters
        /// In flight when its deadline passed.
        case timedOut
        /// In flight on a connection that heard nothing for too long.
        case stalled
        case connectionLost(String)
        case shutDown
    }

    /// A connection, from the decision to open it.
    struct Slot {
        enum State: Equatable {
            case connecting
            case ready
            /// Owes an answer for too long, and takes no more queries until it hears one.
            case stalled
            /// Takes no more queries; closed when empty, or at `by` at the latest.
            case leaving(by: Instant?)
            /// Hung up, and holds its place until the server has ended it too: a statement may still run there. The server's
            /// own limit has ended that at `until`.
            case ending(since: Instant, until: Instant)

            var isReady: Bool {
                if case .ready = self { return true }
                return false
            }

            var isLeaving: Bool {
                if case .leaving = self { return true }
                return false
            }
        }
        let id: ConnectionID
        var state = State.connecting
        /// In the order sent, which is the order of the answers. At most `maxPipelined`.
        var inFlight: [QueryID] = []
        var openedAt: Instant
        var retireAt: Instant
        var idleSince: Instant
        /// When the server was last heard on it; at first, when it began to be opened.
        var lastReceivedAt: Instant

        var isReady: Bool { state.isReady }

        var isConnecting: Bool {
            if case .connecting = state { return true }
            return false
        }

        /// Leaving because it doesn't answer.
        var isCondemned: Bool {
            if case .leaving(by: .some) = state { return true }
            return false
        }

        /// Since when it has been hung up; nil for one that hasn't.
        var endingSince: Instant? {
            if case .ending(let since, _) = state { return since }
            return nil
        }
    }

    /// In the order of their numbers, which is that in which they were decided on. A handful, looked through in place for each query: a dictionary
    /// would hand out copies, with their queues counted as used.
    struct Slots {
        private(set) var all: [Slot] = []

        var count: Int { all.count }
        var isEmpty: Bool { all.isEmpty }

        subscript(id: ConnectionID) -> Slot? {
            get { index(of: id).map { all[$0] } }
            set {
                switch (index(of: id), newValue) {
                case (let index?, let slot?): all[index] = slot
                case (let index?, nil): all.remove(at: index)
                case (nil, let slot?): all.append(slot)
                case (nil, nil): break
                }
            }
        }

        mutating func remove(_ id: ConnectionID) -> Slot? {
            index(of: id).map { all.remove(at: $0) }
        }

        /// The queue of a connection is changed where it is.
        mutating func update(_ id: ConnectionID, _ change: (inout Slot) -> Void) {
            if let index = index(of: id) { change(&all[index]) }
        }

        /// Those that leave, and owe no answer.
        var empty: [ConnectionID] {
            all.indices.lazy.filter { all[$0].state.isLeaving && all[$0].inFlight.isEmpty }.map { all[$0].id }
        }

        /// The ready connection with the fewest queries in flight, if it has less than `limit`.
        func leastBusy(limit: Int) -> (ConnectionID, lastReceivedAt: Instant)? {
            var best: Int?
            var fewest = limit
            for index in all.indices where all[index].state.isReady && all[index].inFlight.count < fewest {
                best = index
                fewest = all[index].inFlight.count
            }
            return best.map { (all[$0].id, all[$0].lastReceivedAt) }
        }

        /// How many there are of each kind.
        var census: Census {
            var census = Census()
            for index in all.indices {
                switch all[index].state {
                case .connecting: census.connecting += 1
                case .ready:
                    census.ready += 1
                    census.idle += all[index].inFlight.isEmpty ? 1 : 0
                    census.hasQueue = census.hasQueue || all[index].inFlight.count > 1
                case .stalled, .leaving: break
                case .ending: census.ending += 1
                }
            }
            return census
        }

        struct Census {
            var connecting = 0
            var ready = 0
            /// Of those that are ready, without a query.
            var idle = 0
            /// Whether a query is behind another on one that is ready.
            var hasQueue = false
            var ending = 0
        }

        private func index(of id: ConnectionID) -> Int? {
            all.firstIndex { $0.id == id }
        }
    }

    struct Query {
        let submittedAt: Instant
        let deadline: Instant
        /// Nobody waits any more: failed or cancelled.
        var abandoned = false
        var overdue = false
    }
}
