import Basics
import CLibpq
import Dispatch

/// A connection for one caller at a time, with the simple protocol. It is used for scripts, migrations and LISTEN.
/// `PostgresClient` is for many callers.
package actor PostgresSession {
    private nonisolated let executor: QueueExecutor
    private var connection: ConnectionHandle?
    private var readiness: ReadinessSource?
    private var execution: Execution?
    private var executionNumber = 0
    private var lossWaiters: [CheckedContinuation<String, Never>] = []
    private var lossMessage = "closed"
    private let receive: (@Sendable (_ channel: String, _ payload: String) -> Void)?

    /// The running script, with its results until now and its caller.
    private struct Execution {
        let number: Int
        let waiter: CheckedContinuation<PostgresRows?, any Error>
        var rows: PostgresRows?
        var error: PostgresError?
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Connects, on a new queue. Throws `.unavailable`.
    package static func connect(_ configuration: PostgresConfiguration) async throws -> PostgresSession {
        try await connect(configuration, executor: QueueExecutor(label: "postgres.session"))
    }

    /// Connects. `receive` is called on the executor's queue for each notification.
    static func connect(
        _ configuration: PostgresConfiguration,
        settings: SessionSettings? = nil,
        executor: QueueExecutor,
        receive: (@Sendable (_ channel: String, _ payload: String) -> Void)? = nil
    ) async throws -> PostgresSession {
        let settings = settings ?? SessionSettings(configuration, statementTimeout: configuration.statementTimeout)
        let end = ContinuousClock.now + configuration.connectTimeout
        let handle = try await ConnectionAttempt(configuration: configuration, executor: executor).open()
        let session = PostgresSession(handle, executor: executor, receive: receive)
        do {
            try await session.activate()
            try await session.execute(settings.script, timeout: max(.zero, end - .now))
        } catch {
            await session.close()
            throw error
        }
        return session
    }

    private init(
        _ connection: ConnectionHandle, executor: QueueExecutor,
        receive: (@Sendable (_ channel: String, _ payload: String) -> Void)?
    ) {
        self.connection = connection
        self.executor = executor
        self.receive = receive
    }

    private func activate() throws {
        guard let connection else { return }
        readiness = ReadinessSource(queue: executor.queue) { [weak self] in
            self?.assumeIsolated { $0.ready() }
        }
        guard readiness?.watch(PQsocket(connection.pointer), for: .read) == true else {
            throw PostgresError(kind: .unavailable(outcomeUnknown: false), message: "no descriptor left")
        }
    }

    /// Runs a script of one or more statements. It is one transaction, unless the script contains transaction commands.
    /// Returns the rows of the last statement that had rows. Throws if another script is running.
    @discardableResult
    package func execute(_ script: String, timeout: Duration = .seconds(10)) async throws -> PostgresRows? {
        try await run(timeout) { PQsendQuery($0, script) }
    }

    /// Runs one statement with parameters.
    @discardableResult
    package func execute(
        _ sql: String, _ parameters: [PostgresParameter], timeout: Duration = .seconds(10)
    ) async throws -> PostgresRows? {
        let encoded = try EncodedParameters(parameters)
        return try await run(timeout) { connection in
            encoded.withPointers { PQsendQueryParams(connection, sql, encoded.count, nil, $0, $1, $2, 0) }
        }
    }

    /// Ends the session. A running script fails. Does nothing when it is called again.
    package func close() {
        end("closed")
    }

    /// Waits until the connection is lost, and returns the reason.
    func waitUntilClosed() async -> String {
        guard connection != nil else { return lossMessage }
        return await withCheckedContinuation { lossWaiters.append($0) }
    }

    /// Ends the session without closing the connection, and returns the connection.
    func release() -> ConnectionHandle? {
        let connection = connection
        self.connection = nil
        end("released")
        return connection
    }

    // MARK: -

    private func run(_ timeout: Duration, _ send: (OpaquePointer) -> Int32) async throws -> PostgresRows? {
        guard let connection else {
            throw PostgresError(kind: .unavailable(outcomeUnknown: false), message: lossMessage)
        }
        guard execution == nil else {
            throw PostgresError(kind: .unavailable(outcomeUnknown: false), message: "the session is busy")
        }
        guard send(connection.pointer) == 1 else {
            let message = PostgresError.message(of: connection.pointer)
            end(message)
            throw PostgresError(kind: .unavailable(outcomeUnknown: false), message: message)
        }
        executionNumber += 1
        let number = executionNumber
        executor.queue.asyncAfter(deadline: .now() + timeout.dispatchInterval) { [weak self] in
            self?.assumeIsolated { session in
                if session.execution?.number == number { session.giveUp("no answer within \(timeout)") }
            }
        }
        return try await withCheckedThrowingContinuation { waiter in
            execution = Execution(number: number, waiter: waiter)
            flush()
        }
    }

    private func flush() {
        guard let connection else { return }
        let left = PQflush(connection.pointer)
        guard left >= 0 else { return end(PostgresError.message(of: connection.pointer)) }
        let interest: ReadinessSource.Interest = left == 1 ? [.read, .write] : .read
        if readiness?.watch(PQsocket(connection.pointer), for: interest) != true { end("the socket can't be watched") }
    }

    private func ready() {
        guard let connection else { return }
        let alive = PQconsumeInput(connection.pointer) == 1
        let message = PostgresError.message(of: connection.pointer)
        collect(connection.pointer)
        while let notification = PQnotifies(connection.pointer) {
            receive?(String(cString: notification.pointee.relname), String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        guard alive else { return end(message) }
        if execution != nil { flush() }
    }

    private func collect(_ connection: OpaquePointer) {
        while execution != nil, PQisBusy(connection) == 0 {
            guard let result = PQgetResult(connection) else { return finish() }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                execution?.rows = PostgresRows(ResultStorage(result))
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(result)
                return end("COPY is not supported")
            default:
                if execution?.error == nil { execution?.error = PostgresError(result: result) }
                PQclear(result)
            }
        }
    }

    private func finish() {
        guard let execution else { return }
        self.execution = nil
        if let error = execution.error {
            execution.waiter.resume(throwing: error)
        } else {
            execution.waiter.resume(returning: execution.rows)
        }
    }

    /// Cancels the running script, because its caller doesn't wait any more.
    private func giveUp(_ message: String) {
        if let request = connection.flatMap({ BackendCancelRequest($0.pointer) }) {
            CancelSender.shared.send { request.send() }
        }
        end(message)
    }

    private func end(_ message: String) {
        readiness?.cancel()
        readiness = nil
        if connection != nil { lossMessage = message }
        connection = nil
        if let execution {
            self.execution = nil
            let error = execution.error ?? PostgresError(kind: .unavailable(outcomeUnknown: true), message: message)
            execution.waiter.resume(throwing: error)
        }
        let waiters = lossWaiters
        lossWaiters = []
        for waiter in waiters { waiter.resume(returning: message) }
    }
}
