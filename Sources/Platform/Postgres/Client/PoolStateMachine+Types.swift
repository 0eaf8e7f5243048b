extension PoolStateMachine {
    /// An action for the driver.
    enum Action: Equatable {
        case connect(ConnectionID)
        case send(QueryID, on: ConnectionID)
        case fail(QueryID, Failure)
        /// Ask the server to cancel the query that the connection is running.
        case cancelRunning(ConnectionID)
        /// Close the connection, or abandon the attempt to open it. If it was open, call `closed` when the server has
        /// closed its end too.
        case close(ConnectionID)
        /// Stop waiting for the server to close its end.
        case discard(ConnectionID)
        /// The shutdown is complete: no query and no connection is left. This action is returned once.
        case stopped
    }

    enum Failure: Equatable {
        case noConnection(lastFailure: String?)
        case tooManyWaiters
        /// The query was in flight when its deadline passed.
        case timedOut
        /// The query was in flight on a connection that was silent for too long.
        case stalled
        case connectionLost(String)
        case shutDown
    }

    /// A connection's place, from the decision to open it.
    struct Slot {
        enum State: Equatable {
            case connecting
            case ready
            /// The server hasn't answered for too long. The connection takes no more queries until bytes arrive.
            case stalled
            /// The connection takes no more queries. The pool closes it when all its queries are answered, or at `by`
            /// at the latest.
            case leaving(by: Instant?)
            /// The pool has closed the connection. Its place stays taken until the server has closed the connection
            /// too, because a statement may still run on the server. The server's time limit ends that statement by
            /// `until`.
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
        /// The queries that were sent, in order. The answers have the same order. There are at most `maxPipelined`.
        private(set) var inFlight: [QueryID] = []
        /// The owners of the queries in flight, in the same order.
        private(set) var owners: [WaitingQueries.Owner] = []
        var openedAt: Instant
        var retireAt: Instant
        var idleSince: Instant
        /// The time at which the last bytes arrived from the server, or at which the attempt to connect began.
        var lastReceivedAt: Instant

        var isReady: Bool { state.isReady }

        mutating func append(_ query: QueryID, of owner: WaitingQueries.Owner) {
            inFlight.append(query)
            owners.append(owner)
        }

        mutating func remove(_ query: QueryID) {
            guard let index = inFlight.firstIndex(of: query) else { return }
            inFlight.remove(at: index)
            owners.remove(at: index)
        }

        mutating func removeAll() {
            inFlight = []
            owners = []
        }

        var isConnecting: Bool {
            if case .connecting = state { return true }
            return false
        }

        /// Whether the connection is leaving because it doesn't answer.
        var isCondemned: Bool {
            if case .leaving(by: .some) = state { return true }
            return false
        }

        /// The time at which the pool closed the connection, or `nil` if it hasn't.
        var endingSince: Instant? {
            if case .ending(let since, _) = state { return since }
            return nil
        }
    }

    /// The places in ascending order of their ids. A pool has few places, so each query searches them in this array. A
    /// dictionary would return copies, and each change would copy a place's arrays.
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

        /// Changes a place without copying its array of queries.
        mutating func update(_ id: ConnectionID, _ change: (inout Slot) -> Void) {
            if let index = index(of: id) { change(&all[index]) }
        }

        /// The connections that are leaving and have no queries in flight.
        var empty: [ConnectionID] {
            all.indices.lazy.filter { all[$0].state.isLeaving && all[$0].inFlight.isEmpty }.map { all[$0].id }
        }

        /// The connection for the next query of an owner. `nil` if all connections are full, or if the owner has
        /// queries on `most` connections and these are full. While a connection `isOpening`, the query doesn't go to a
        /// connection with queries of another owner, which may be slow. The query waits instead.
        func place(
            for owner: WaitingQueries.Owner, limit: Int, most: Int?, isOpening: Bool
        ) -> (ConnectionID, lastReceivedAt: Instant)? {
            guard let owner, let most else { return leastBusy(limit: limit) }
            let isEverywhere = all.count { $0.owners.contains(owner) } >= most
            return leastBusy(limit: limit) { slot in
                (!isEverywhere || slot.owners.contains(owner))
                    && (!isOpening || slot.owners.allSatisfy { $0 == owner })
            }
        }

        /// The ready connection with the fewest queries in flight. Only connections that `isAllowed` accepts and that
        /// have fewer than `limit` queries are considered.
        func leastBusy(
            limit: Int, where isAllowed: (Slot) -> Bool = { _ in true }
        ) -> (ConnectionID, lastReceivedAt: Instant)? {
            var best: Int?
            var fewest = limit
            for index in all.indices
            where all[index].state.isReady && all[index].inFlight.count < fewest && isAllowed(all[index]) {
                best = index
                fewest = all[index].inFlight.count
            }
            return best.map { (all[$0].id, all[$0].lastReceivedAt) }
        }

        /// The number of connections of each kind.
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
            /// The number of ready connections without a query.
            var idle = 0
            /// Whether a query waits behind another one on a ready connection.
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
        /// Whether no caller waits for the answer any more, because the query has failed or was cancelled.
        var abandoned = false
        var overdue = false
    }
}
