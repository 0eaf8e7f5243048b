package import Basics

/// An error of the database.
package struct PostgresError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The database is unavailable, is starting or stopping, or didn't answer in time. If `outcomeUnknown` is
        /// `true`, the statement may have taken effect. Otherwise it has not.
        case unavailable(outcomeUnknown: Bool)
        /// The database can't run the statement now: it is read-only, full, out of memory or connections, or has errors
        /// with its files. The statement had no effect.
        case refused(sqlState: String)
        /// The statement conflicted with another one (a deadlock or a serialization failure), even after it was
        /// repeated. It had no effect.
        case conflict(sqlState: String)
        /// PostgreSQL refused the statement, which had no effect.
        case server(sqlState: String)
        /// A column of the result is missing or has an unexpected value.
        case decoding
        /// PostgreSQL can't store a parameter. The statement wasn't sent.
        case invalidParameter
        /// The client has been shut down. The statement wasn't sent.
        case shutDown
    }

    package let kind: Kind
    /// A message for people. It may quote a value of the database, so only `description` is safe for logs.
    package let message: String
    /// The violated constraint, if a constraint was the reason.
    package let constraint: String?

    package init(kind: Kind, message: String, constraint: String? = nil) {
        self.kind = kind
        self.message = message
        self.constraint = constraint
    }

    /// Whether the state of the database is the reason. In that case a later attempt may succeed.
    package var isUnavailable: Bool {
        switch kind {
        case .unavailable, .refused, .conflict: true
        case .server, .decoding, .invalidParameter, .shutDown: false
        }
    }
}

extension PostgresError: CustomStringConvertible {
    /// A text for logs. It never contains parameters: messages of data exceptions (class 22) and of `RAISE` (P0) quote
    /// values, so they are left out.
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
    /// - Parameter isDivisible: Whether parts of the batch may be written if the whole batch can't.
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
