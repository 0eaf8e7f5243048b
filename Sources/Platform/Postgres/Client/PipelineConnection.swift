import CLibpq
import Dispatch
import Glibc

/// A connection in libpq's pipeline mode. The object is used only on the pool's queue.
///
/// Each query is sent as `[Parse] Bind Execute Sync`. A query is a transaction of its own, and an error ends at the
/// query's Sync. Results arrive in the order of sending: `[prepared] rows|error synced` for each query. If a query has
/// its own time limit, a statement before it in the same transaction sets the server's limit.
final class PipelineConnection {
    /// An answered query.
    struct Completion {
        let id: PoolStateMachine.QueryID
        let result: Result<PostgresRows, PostgresError>
        let health: ConnectionHealth
    }

    /// The statement that sets the server's time limit for the rest of the transaction.
    private static let limit = PostgresStatement(
        name: "statement_limit", sql: "SELECT set_config('statement_timeout', $1, true)")

    private let connection: ConnectionHandle
    private let readiness: ReadinessSource
    /// Whether unsent bytes wait for the socket to become writable.
    private var isFlushing = false
    private var inFlight: [PipelinedQuery] = []
    /// The names of the statements that are prepared on this connection, including those whose Parse is in flight.
    private var prepared: Set<String> = []
    /// The errors of failed Parse messages, by statement. Queries that were sent before the failure was known get these
    /// errors as results.
    private var prepareFailures: [String: PostgresError] = [:]

    /// Returns `nil` if the connection can't be used. `onReady` is called on the queue whenever ``receive()`` has work.
    init?(_ connection: ConnectionHandle, queue: DispatchQueue, onReady: @escaping @Sendable () -> Void) {
        guard PQenterPipelineMode(connection.pointer) == 1,
            let readiness = ReadinessSource(queue: queue, handler: onReady),
            readiness.watch(PQsocket(connection.pointer), for: .read)
        else { return nil }
        self.connection = connection
        self.readiness = readiness
    }

    /// Sends a query. Returns the reason if the connection is lost, and otherwise `nil`.
    ///
    /// - Parameter limit: The server's time limit for the query, or `nil` for the connection's default.
    func send(
        _ id: PoolStateMachine.QueryID, _ statement: PostgresStatement, _ parameters: EncodedParameters,
        limit: Duration? = nil
    ) -> String? {
        var awaited: [PipelinedQuery.Step] = []
        if limit != nil {
            awaited += isPrepared(Self.limit) ? [.setLimit] : [.prepareLimit, .setLimit]
        }
        awaited += isPrepared(statement) ? [.execute] : [.prepare, .execute]
        inFlight.append(PipelinedQuery(id: id, statement: statement, awaited: awaited))
        if let limit {
            let milliseconds = EncodedParameters(milliseconds: limit)
            guard sendCommand(Self.limit, milliseconds) else { return message }
        }
        guard sendCommand(statement, parameters), PQpipelineSync(connection.pointer) == 1 else { return message }
        return flush()
    }

    private func isPrepared(_ statement: PostgresStatement) -> Bool {
        !statement.name.isEmpty && prepared.contains(statement.name)
    }

    /// Sends `[Parse] Bind Execute`.
    private func sendCommand(_ statement: PostgresStatement, _ parameters: EncodedParameters) -> Bool {
        if !isPrepared(statement) {
            guard PQsendPrepare(connection.pointer, statement.name, statement.sql, 0, nil) == 1 else { return false }
            prepared.insert(statement.name)
        }
        return parameters.withPointers { values, lengths, formats in
            PQsendQueryPrepared(connection.pointer, statement.name, parameters.count, values, lengths, formats, 0) == 1
        }
    }

    /// Writes unsent bytes. Returns the reason if the connection is lost, and otherwise `nil`.
    private func flush() -> String? {
        let left = PQflush(connection.pointer)
        guard left >= 0 else { return message }
        let mustFlush = left == 1
        guard mustFlush != isFlushing else { return nil }
        isFlushing = mustFlush
        let interest: ReadinessSource.Interest = mustFlush ? [.read, .write] : .read
        return readiness.watch(PQsocket(connection.pointer), for: interest) ? nil : "the socket can't be watched"
    }

    /// Whether there are unread bytes.
    var hasInput: Bool {
        var poller = pollfd(fd: PQsocket(connection.pointer), events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) > 0 && poller.revents & Int16(POLLIN) != 0
    }

    /// Reads and writes without waiting. Returns the answered queries, and the reason if the connection is lost.
    func receive() -> (completions: [Completion], loss: String?) {
        let alive = PQconsumeInput(connection.pointer) == 1
        let reason = message
        var completions: [Completion] = []
        var endings = 0
        while !inFlight.isEmpty, PQisBusy(connection.pointer) == 0 {
            guard let result = PQgetResult(connection.pointer) else {
                // One `nil` ends the results of a command. Several in a row mean that libpq doesn't expect results for
                // the commands that are still awaited.
                endings += 1
                if endings > 2 { return (completions, reason) }
                continue
            }
            endings = 0
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                completions.append(complete(inFlight.removeFirst()))
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(result)
                return (completions, "COPY is not supported")
            case let status: note(result, status)
            }
        }
        guard alive else { return (completions, reason) }
        return (completions, isFlushing ? flush() : nil)
    }

    /// Returns a request to cancel the running query. Any thread may use the request.
    func cancelRequest() -> BackendCancelRequest? {
        BackendCancelRequest(connection.pointer)
    }

    func close() {
        readiness.cancel()
    }

    /// Returns a duplicate of the socket, which becomes readable when the server closes it. Call this before dropping
    /// the last reference, because that closes the connection. Returns `nil` if the process has no descriptor left.
    func linger(queue: DispatchQueue, onEnd: @escaping @Sendable () -> Void) -> LingeringSocket? {
        readiness.cancel()
        return LingeringSocket(PQsocket(connection.pointer), queue: queue, onEnd: onEnd)
    }

    private var message: String { PostgresError.message(of: connection.pointer) }

    /// Handles the result of the next step of the oldest query.
    private func note(_ result: OpaquePointer, _ status: ExecStatusType) {
        let succeeded = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY
        let step = inFlight[0].awaited.isEmpty ? .execute : inFlight[0].awaited.removeFirst()
        if succeeded, step == .execute {
            inFlight[0].rows = PostgresRows(ResultStorage(result))
            return
        }
        defer { PQclear(result) }
        // After an error, the server skips all messages up to the Sync. Their results say only that they were skipped,
        // so the first error is kept.
        if !succeeded, inFlight[0].error == nil { inFlight[0].error = PostgresError(result: result) }
        switch step {
        case .prepareLimit: notePrepared(Self.limit.name, succeeded)
        case .prepare: notePrepared(inFlight[0].statement.name, succeeded)
        case .setLimit, .execute: break
        }
    }

    private func notePrepared(_ name: String, _ succeeded: Bool) {
        if succeeded {
            prepareFailures[name] = nil
        } else {
            prepared.remove(name)
            prepareFailures[name] = inFlight[0].error
        }
    }

    private func complete(_ query: PipelinedQuery) -> Completion {
        // 26000 means that the prepared statement doesn't exist. 0A000 means that its result type has changed with the
        // schema.
        switch query.error?.kind {
        case .server(sqlState: "26000"):
            if let failure = prepareFailures[query.statement.name] {
                return Completion(id: query.id, result: .failure(failure), health: .healthy)
            }
            return Completion(id: query.id, result: query.result, health: .stale)
        case .server(sqlState: "0A000"):
            return Completion(id: query.id, result: query.result, health: .stale)
        case .refused(sqlState: PostgresError.readOnlyState):
            return Completion(id: query.id, result: query.result, health: .readOnly)
        default:
            return Completion(id: query.id, result: query.result, health: .healthy)
        }
    }
}
