/// A query on its way through a connection, and what has come back of it.
struct PipelinedQuery {
    let id: PoolStateMachine.QueryID
    let statement: PostgresStatement
    /// Whether a Parse was sent before it whose answer is due first.
    var awaitsPrepare: Bool
    var rows: PostgresRows?
    var error: PostgresError?

    /// What the caller gets once the synchronisation point has been answered.
    var result: Result<PostgresRows, PostgresError> {
        if let error { return .failure(error) }
        if let rows { return .success(rows) }
        return .failure(PostgresError(kind: .unavailable(outcomeUnknown: true), message: "no answer to the query"))
    }
}
