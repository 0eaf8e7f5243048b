package import Basics

/// What went wrong with the database.
package struct PostgresError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The database is away, starting, stopping, or did not answer in time. With `outcomeUnknown`
        /// the statement may have taken effect; without, it certainly has not.
        case unavailable(outcomeUnknown: Bool)
        /// The server is there and can't do it now: it is read-only, full, out of memory or connections, or in trouble with its
        /// files. The statement had no effect.
        case refused(sqlState: String)
        /// The statement met another in a way that only one of them could go on (a deadlock, a conflict of snapshots), again
        /// and again. It had no effect.
        case conflict(sqlState: String)
        /// PostgreSQL refused the statement, which had no effect.
        case server(sqlState: String)
        /// A column is missing or holds something else than was asked for.
        case decoding
        /// A parameter that PostgreSQL can't store; nothing was sent.
        case invalidParameter
        /// The client has been shut down; nothing was sent.
        case shutDown
    }

    package let kind: Kind
    /// For people. The server's words may quote a value: `description` is what may be logged.
    package let message: String
    /// The constraint that the statement violated, if that was it.
    package let constraint: String?

    package init(kind: Kind, message: String, constraint: String? = nil) {
        self.kind = kind
        self.message = message
        self.constraint = constraint
    }

    /// Whether the state of the database explains it, rather than the statement, so that a later try may succeed.
    package var isUnavailable: Bool {
        switch kind {
        case .unavailable, .refused, .conflict: true
        case .server, .decoding, .invalidParameter, .shutDown: false
        }
    }
}

extension PostgresError: CustomStringConvertible {
    /// Never prints parameter data: messages of data exceptions (class 22) and of `RAISE` (P0) quote values and are
    /// left out.
    package var description: String {
        switch kind {
        case .unavailable(let outcomeUnknown):
            return "database unavailable\(outcomeUnknown ? " (outcome unknown)" : ""): \(message)"
        case .refused(let sqlState): return "database refuses \(sqlState): \(message)"
        case .conflict(let sqlState): return "database conflict \(sqlState): \(message)"
        case .server(let sqlState):
            let quotesValues = sqlState.hasPrefix("22") || sqlState.hasPrefix("P0")
            return "database error \(sqlState)" + (quotesValues ? "" : ": \(message)")
        case .decoding: return "unexpected answer of the database: \(message)"
        case .invalidParameter: return "invalid parameter: \(message)"
        case .shutDown: return "database client shut down: \(message)"
        }
    }
}

extension BatchOutcome {
    /// - Parameter isDivisible: Whether half of a batch may be taken where the whole is not.
    package init(_ error: any Error, isDivisible: Bool) {
        guard let failure = error as? PostgresError else {
            self = .failed(error)
            return
        }
        if failure.isUnavailable {
            self = .unavailable(error)
        } else if isDivisible, case .server = failure.kind {
            self = .refused(error)
        } else {
            self = .failed(error)
        }
    }
}
