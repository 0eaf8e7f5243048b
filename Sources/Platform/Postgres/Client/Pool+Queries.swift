/// A query that has not ended.
struct PendingQuery {
    let statement: PostgresStatement
    let parameters: EncodedParameters
    /// The server's time limit for this query, or `nil` for the default.
    let limit: Duration?
    let submittedAt: ContinuousClock.Instant
    let waiter: CheckedContinuation<PostgresRows, any Error>
}

/// Sending and answering of queries.
extension Pool {
    func query(
        _ statement: PostgresStatement, _ parameters: EncodedParameters, timeout: Duration,
        owner: WaitingQueries.Owner = nil
    ) async throws -> PostgresRows {
        lastQuery += 1
        let id = lastQuery
        let limit = timeout == configuration.queryTimeout ? nil : timeout + configuration.serverMargin
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let now = ContinuousClock.now
                pending[id] = PendingQuery(
                    statement: statement, parameters: parameters, limit: limit, submittedAt: now, waiter: waiter)
                perform(machine.submit(id, of: owner, deadline: now + timeout, now: now))
            }
        } onCancel: {
            // This task runs on the actor only after the query was submitted, because the submission doesn't suspend.
            Task { await self.cancel(id) }
        }
    }

    private func cancel(_ id: QueryID) {
        guard let query = pending.removeValue(forKey: id) else { return }
        observer?.query(
            name: query.statement.name, duration: .now - query.submittedAt, outcome: .cancelled)
        query.waiter.resume(throwing: CancellationError())
        perform(machine.cancel(id, now: .now))
    }

    func send(_ id: QueryID, on connection: ConnectionID) {
        guard let query = pending[id] else { return }
        let loss = connections[connection]?.send(id, query.statement, query.parameters, limit: query.limit)
        if let loss { lost(connection, loss) }
    }

    func ready(_ id: ConnectionID) {
        guard let (completions, loss) = connections[id]?.receive() else { return }
        for completion in completions {
            complete(completion.id, completion.result)
            perform(machine.finished(completion.id, on: id, health: completion.health, now: .now))
        }
        if let loss {
            lost(id, loss)
        } else if completions.isEmpty {
            perform(machine.received(id, now: .now))
        }
    }

    func complete(_ id: QueryID, _ result: Result<PostgresRows, PostgresError>) {
        guard let query = pending.removeValue(forKey: id) else { return }
        if let observer {
            let outcome: PostgresQueryOutcome =
                switch result {
                case .success: .succeeded
                case .failure(let error): .failed(error.kind)
                }
            observer.query(name: query.statement.name, duration: .now - query.submittedAt, outcome: outcome)
        }
        query.waiter.resume(with: result.mapError { $0 as any Error })
    }
}
