import Basics
import CLibpq
import Dispatch

/// Opens a connection with `PQconnectStart` and `PQconnectPoll`.
///
/// The actor needs a queue of its own, because `PQconnectPoll` may block: it resolves names and reads password, service
/// and certificate files.
actor ConnectionAttempt {
    private nonisolated let executor: QueueExecutor
    private let configuration: PostgresConfiguration
    private var connection: ConnectionHandle?
    private var readiness: ReadinessSource?
    private var waiter: CheckedContinuation<ConnectionHandle, any Error>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(configuration: PostgresConfiguration, executor: QueueExecutor) {
        self.configuration = configuration
        self.executor = executor
    }

    /// Returns the open, non-blocking connection. Throws `.unavailable` if the attempt fails, takes longer than
    /// `connectTimeout`, or is cancelled. Call this method once.
    func open() async throws -> ConnectionHandle {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter = continuation
                begin()
            }
        } onCancel: {
            Task { await self.fail("the attempt was cancelled") }
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
        readiness = ReadinessSource(queue: executor.queue) { [weak self] in
            self?.assumeIsolated { $0.poll() }
        }
        // The first wait is for writing, as after PGRES_POLLING_WRITING (PostgreSQL 15 manual, 34.1).
        wait(for: .write)
    }

    /// Waits for the present socket of libpq, because it may change after each step.
    private func wait(for interest: ReadinessSource.Interest) {
        guard let connection else { return }
        guard readiness?.watch(PQsocket(connection.pointer), for: interest) == true else {
            return fail("the connection's socket can't be watched")
        }
    }

    private func poll() {
        guard let connection else { return }
        switch PQconnectPoll(connection.pointer) {
        case PGRES_POLLING_READING: wait(for: .read)
        case PGRES_POLLING_WRITING: wait(for: .write)
        case PGRES_POLLING_OK: finish()
        default: fail(PostgresError.message(of: connection.pointer))
        }
    }

    private func finish() {
        guard let connection else { return }
        guard PQsetnonblocking(connection.pointer, 1) == 0 else {
            return fail(PostgresError.message(of: connection.pointer))
        }
        readiness?.cancel()
        self.connection = nil
        waiter?.resume(returning: connection)
        waiter = nil
    }

    /// Ends the attempt with an error. Does nothing if it has already ended.
    private func fail(_ message: String) {
        readiness?.cancel()
        connection = nil
        waiter?.resume(throwing: PostgresError(kind: .unavailable(outcomeUnknown: false), message: message))
        waiter = nil
    }
}
