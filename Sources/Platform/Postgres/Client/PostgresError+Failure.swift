extension PostgresError {
    /// Converts the pool's reason for a failed query into an error for the caller.
    init(_ failure: PoolStateMachine.Failure) {
        switch failure {
        case .noConnection(let lastFailure):
            self.init(
                kind: .unavailable(outcomeUnknown: false), message: lastFailure ?? "no connection was available in time"
            )
        case .tooManyWaiters:
            self.init(kind: .unavailable(outcomeUnknown: false), message: "too many queries wait for a connection")
        case .stalled:
            self.init(kind: .unavailable(outcomeUnknown: true), message: "the database doesn't answer")
        case .timedOut:
            self.init(kind: .unavailable(outcomeUnknown: true), message: "no answer before the query's timeout")
        case .connectionLost(let message):
            self.init(kind: .unavailable(outcomeUnknown: true), message: message)
        case .shutDown:
            self.init(kind: .shutDown, message: "the client has been shut down")
        }
    }
}
