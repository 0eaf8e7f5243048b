import CLibpq
import Dispatch

/// Opens one connection by `PQconnectStart` and `PQconnectPoll`.
///
/// Runs on the queue it is given, which should be nobody's else: libpq resolves names and reads password, service and
/// certificate files inside `PQconnectPoll`, the only calls of it that may block.
actor ConnectionAttempt {
    private nonisolated let executor: QueueExecutor
    private let configuration: PostgresConfiguration
    private var connection: ConnectionHandle?
    private var source: SocketSource?
    private var waiter: CheckedContinuation<ConnectionHandle, any Error>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(configuration: PostgresConfiguration, executor: QueueExecutor) {
        self.configuration = configuration
        self.executor = executor
    }

    /// The open connection, non-blocking. Throws `.unavailable` when it fails, takes longer than `connectTimeout`, or is
    /// cancelled. To be called once.
    func open() async throws -> ConnectionHandle {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter = continuation
                begin()
            }
        } onCancel: {
            Task { await self.fail("given up") }
        }
    }

    private func begin() {
        guard let pointer = ConnectionKeywords(configuration).withArrays({ PQconnectStartParams($0, $1, 1) }) else {
            return fail("out of memory")
        }
        let handle = ConnectionHandle(pointer)
        connection = handle
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)  // notices would go to standard error
        guard PQstatus(pointer) != CONNECTION_BAD else { return fail(PostgresError.message(of: pointer)) }
        executor.queue.asyncAfter(deadline: .now() + configuration.connectTimeout.dispatchInterval) { [weak self] in
            self?.assumeIsolated { $0.fail("no answer within \($0.configuration.connectTimeout)") }
        }
        // PostgreSQL 15 manual, 34.1: the first time as if PQconnectPoll had asked to write.
        wait(.write)
    }

    private func wait(_ direction: SocketSource.Direction) {
        guard let connection else { return }
        source = SocketSource(direction, of: PQsocket(connection.pointer), queue: executor.queue) { [weak self] in
            self?.assumeIsolated { $0.poll() }
        }
        if source == nil { fail("no descriptor for the connection's socket") }
    }

    private func poll() {
        // The socket may be another after this: each step watches anew.
        source?.cancel()
        source = nil
        guard let connection else { return }
        switch PQconnectPoll(connection.pointer) {
        case PGRES_POLLING_READING: wait(.read)
        case PGRES_POLLING_WRITING: wait(.write)
        case PGRES_POLLING_OK: finish()
        default: fail(PostgresError.message(of: connection.pointer))
        }
    }

    private func finish() {
        guard let connection else { return }
        guard PQsetnonblocking(connection.pointer, 1) == 0 else {
            return fail(PostgresError.message(of: connection.pointer))
        }
        self.connection = nil
        waiter?.resume(returning: connection)
        waiter = nil
    }

    /// Nothing when it is over already.
    private func fail(_ message: String) {
        source?.cancel()
        source = nil
        connection = nil
        waiter?.resume(throwing: PostgresError(kind: .unavailable(outcomeUnknown: false), message: message))
        waiter = nil
    }
}
