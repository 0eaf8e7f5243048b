/// A query in flight on a connection, and the results received so far.
struct PipelinedQuery {
    /// A message that was sent for the query. Each message has one result.
    enum Step {
        /// The Parse and the Execute of the statement that sets the server's time limit.
        case prepareLimit, setLimit
        case prepare, execute
    }

    let id: PoolStateMachine.QueryID
    let statement: PostgresStatement
    /// The steps whose results haven't arrived yet, in order.
    var awaited: [Step]
    var rows: PostgresRows?
    var error: PostgresError?

    /// The result for the caller. The result is complete when the server has answered the Sync.
    var result: Result<PostgresRows, PostgresError> {
        if let error { return .failure(error) }
        if let rows { return .success(rows) }
        return .failure(PostgresError(kind: .unavailable(outcomeUnknown: true), message: "no answer to the query"))
    }
}
