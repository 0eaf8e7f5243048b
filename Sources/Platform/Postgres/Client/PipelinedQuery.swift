/// A query in flight on a connection, and the results received so far.
struct PipelinedQuery {
    /// A message sent for the query, with one result each.
    enum Step {
        /// The Parse and Execute of the statement that sets the server's time limit.
        case prepareLimit, setLimit
        case prepare, execute
    }

    let id: PoolStateMachine.QueryID
    let statement: PostgresStatement
    /// The steps whose results are missing, in order.
    var awaited: [Step]
    var rows: PostgresRows?
    var error: PostgresError?

    /// The caller's result, after the Sync was answered.
    var result: Result<PostgresRows, PostgresError> {
        if let error { return .failure(error) }
        if let rows { return .success(rows) }
        return .failure(PostgresError(kind: .unavailable(outcomeUnknown: true), message: "no answer to the query"))
    }
}
