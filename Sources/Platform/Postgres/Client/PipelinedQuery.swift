/// A query on its way through a connection, and what has come back of it.
struct PipelinedQuery {
    /// What was sent for it, each answered by one result.
    enum Step {
        /// The Parse of the statement that sets the server's limit, and its Execute.
        case prepareLimit, setLimit
        case prepare, execute
    }

    let id: PoolStateMachine.QueryID
    let statement: PostgresStatement
    /// Whose answers are due, in this order.
    var awaited: [Step]
    var rows: PostgresRows?
    var error: PostgresError?

    /// What the caller gets once the synchronisation point has been answered.
    var result: Result<PostgresRows, PostgresError> {
        if let error { return .failure(error) }
        if let rows { return .success(rows) }
        return .failure(PostgresError(kind: .unavailable(outcomeUnknown: true), message: "no answer to the query"))
    }
}
