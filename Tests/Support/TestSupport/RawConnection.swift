import Dispatch
import Glibc

/// A client's socket, for tests that check every byte. It reads from the kernel only inside a `receive…` call, so a
/// test simulates a stalled peer by calling none (`receiveBuffer` makes the kernel's buffer small).
///
/// Every wait has a deadline and ends in a `ClientFailure`, never in a hang. One `receive…` at a time; sends are
/// queued.
package actor RawConnection {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        ClientExecutor.shared.asUnownedSerialExecutor()
    }

    package nonisolated let endpoint: ClientEndpoint
    private let socket: ClientSocket
    private var received = ReceivedBytes()
    private var hasEnded = false
    /// The kernel has reported a reset. It does so only once.
    private var wasReset = false
    private var isClosed = false
    private var isReceiving = false
    private var isSending = false
    private var sendersWaiting: [CheckedContinuation<Void, Never>] = []

    private init(endpoint: ClientEndpoint, descriptor: Int32) throws {
        self.endpoint = endpoint
        socket = try ClientSocket(descriptor: descriptor, queue: ClientExecutor.shared.queue)
    }

    /// Takes over a connected, non-blocking socket.
    package init(adopting descriptor: Int32, named name: String) throws {
        try self.init(endpoint: .unix(path: name), descriptor: descriptor)
    }

    deinit {
        guard !isClosed else { return }
        ClientExecutor.shared.queue.async { [socket] in socket.close() }
    }

    /// Connects. `receiveBuffer` is `SO_RCVBUF` in bytes (the kernel doubles it and has a floor of about 2 KiB).
    package static func connect(
        to endpoint: ClientEndpoint, receiveBuffer: Int32? = nil, within allowed: Duration = Deadline.standard
    ) async throws -> RawConnection {
        let descriptor = Glibc.socket(
            endpoint.family,
            Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ClientFailure.system(call: "socket", code: errno) }
        let connection = try RawConnection(endpoint: endpoint, descriptor: descriptor)
        try await connection.establish(receiveBuffer: receiveBuffer, deadline: Deadline(after: allowed))
        return connection
    }

    private func establish(receiveBuffer: Int32?, deadline: Deadline) async throws {
        if let receiveBuffer { try set(SO_RCVBUF, at: SOL_SOCKET, to: receiveBuffer) }
        // Without Nagle's delay, each piece is sent as its own segment.
        if case .tcp = endpoint { try set(TCP_NODELAY, at: Int32(IPPROTO_TCP), to: 1) }
        while true {
            let outcome = try endpoint.withSocketAddress { address, length in
                Glibc.connect(socket.descriptor, address, length) == 0 ? 0 : errno
            }
            switch outcome {
            case 0: return
            case EINPROGRESS, EINTR:
                try await wait(at: socket.writable, until: deadline, for: "the connection to \(endpoint)")
                var code: Int32 = 0
                var size = socklen_t(MemoryLayout<Int32>.size)
                guard getsockopt(socket.descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
                    throw ClientFailure.system(call: "getsockopt", code: errno)
                }
                // The connection was accepted and reset at once. The next read or write reports it.
                wasReset = code == ECONNRESET
                guard code == 0 || wasReset else { throw ClientFailure.system(call: "connect", code: code) }
                return
            case EAGAIN where deadline.remainingNanoseconds > 0:
                // The Unix socket's backlog is full. No event reports its end (connect(2)).
                try await Task.sleep(for: .milliseconds(5))
            default: throw ClientFailure.system(call: "connect", code: outcome)
            }
        }
    }

    // MARK: - Sending

    /// Returns when the kernel has taken all bytes.
    package func send(_ bytes: [UInt8], within allowed: Duration = Deadline.standard) async throws {
        try await send(bytes, inPiecesOf: max(1, bytes.count), within: allowed)
    }

    package func send(_ text: String, within allowed: Duration = Deadline.standard) async throws {
        try await send(Array(text.utf8), within: allowed)
    }

    /// Sends pieces of `size` bytes, each with its own call. Nagle's delay is off, so each is its own segment.
    package func send(_ bytes: [UInt8], inPiecesOf size: Int, within allowed: Duration = Deadline.standard)
        async throws
    {
        guard size > 0 else { throw ClientFailure.misuse("pieces of \(size) bytes") }
        while isSending { await withCheckedContinuation { sendersWaiting.append($0) } }
        isSending = true
        defer {
            isSending = false
            if !sendersWaiting.isEmpty { sendersWaiting.removeFirst().resume() }
        }
        let deadline = Deadline(after: allowed)
        var offset = 0
        while offset < bytes.count {
            let end = min(bytes.count, (offset / size + 1) * size)
            let what = "the peer to take bytes \(offset)..<\(end) of \(bytes.count)"
            try checkOpen(what)
            guard !wasReset else { throw ClientFailure.reset(waitingFor: what) }
            let sent = bytes[offset..<end].withUnsafeBytes {
                Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if sent >= 0 {
                offset += sent
                if size < bytes.count { await Task.yield() }
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: try await wait(at: socket.writable, until: deadline, for: what)
            case EPIPE, ECONNRESET: throw ClientFailure.reset(waitingFor: what)
            default: throw ClientFailure.system(call: "send", code: errno)
            }
        }
    }

    // MARK: - Receiving

    /// Returns at least one byte and at most `limit` bytes, or none at the end of the stream.
    package func receive(upTo limit: Int, within allowed: Duration = Deadline.standard) async throws -> [UInt8] {
        try await receive(awaiting: "up to \(limit) bytes", within: allowed) { bytes, ended in
            bytes.count > 0 ? min(bytes.count, limit) : (ended ? 0 : nil)
        }
    }

    /// Returns exactly `count` bytes.
    package func receiveExactly(_ count: Int, within allowed: Duration = Deadline.standard) async throws -> [UInt8] {
        try await receive(awaiting: "\(count) bytes", within: allowed) { bytes, _ in
            bytes.count >= count ? count : nil
        }
    }

    /// Returns all bytes up to and including the first `delimiter`. The bytes after it stay for the next call. More
    /// than `limit` bytes without a delimiter are a violation.
    package func receiveUntil(
        _ delimiter: String, limit: Int = 1 << 20, within allowed: Duration = Deadline.standard
    ) async throws -> [UInt8] {
        let wanted = Array(delimiter.utf8)
        let what = "the delimiter \(ReceivedBytes.preview(wanted))"
        var searched = 0
        return try await receive(awaiting: what, within: allowed) { bytes, _ in
            if let length = bytes.length(through: wanted, searchingFrom: searched) { return length }
            searched = bytes.count
            guard bytes.count <= limit else {
                throw ClientFailure.violation("\(bytes.count) bytes without \(what): \(bytes.preview)")
            }
            return nil
        }
    }

    /// Returns all bytes until the peer ends the stream.
    package func receiveToEnd(limit: Int = 16 << 20, within allowed: Duration = Deadline.standard) async throws
        -> [UInt8]
    {
        try await receive(awaiting: "the end of the stream", within: allowed) { bytes, ended in
            guard bytes.count <= limit else { throw ClientFailure.violation("over \(limit) bytes: \(bytes.preview)") }
            return ended ? bytes.count : nil
        }
    }

    /// Waits for the peer's end of the stream, or its reset. Any byte before that is a violation.
    package func expectClosed(within allowed: Duration = Deadline.standard) async throws {
        do {
            let bytes = try await receive(upTo: 1 << 16, within: allowed)
            guard bytes.isEmpty else {
                throw ClientFailure.violation("expected the end, received \(ReceivedBytes.preview(bytes))")
            }
        } catch ClientFailure.reset {
            return
        }
    }

    /// Returns the bytes that have already arrived, without waiting.
    package func receivedNow() throws -> [UInt8] {
        while !hasEnded, try fill(awaiting: "bytes") {}
        return received.take(received.count)
    }

    // MARK: - Ending

    /// Ends this side's stream (FIN). Receiving continues.
    package func shutdownWrite() throws {
        try checkOpen("the end of this side's stream")
        guard shutdown(socket.descriptor, Int32(SHUT_WR)) == 0 else {
            throw ClientFailure.system(call: "shutdown", code: errno)
        }
    }

    /// Closes the connection. Calls in progress fail. Idempotent. The kernel sends RST instead of FIN if unread bytes
    /// are left.
    package func close() async {
        guard !isClosed else { return }
        isClosed = true
        socket.close()
    }

    /// Resets the connection (`SO_LINGER` of zero). Unsent bytes are lost.
    package func reset() async throws {
        try checkOpen("the reset")
        var linger = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: linger))
        guard setsockopt(socket.descriptor, SOL_SOCKET, SO_LINGER, &linger, size) == 0 else {
            throw ClientFailure.system(call: "setsockopt", code: errno)
        }
        await close()
    }

    // MARK: -

    /// Receives until `rule` returns the number of bytes to take. It gets the bytes received so far, and whether the
    /// stream has ended. `nil` means that it needs more.
    private func receive(
        awaiting what: String, within allowed: Duration,
        rule: (ReceivedBytes, _ ended: Bool) throws -> Int?
    ) async throws -> [UInt8] {
        guard !isReceiving else { throw ClientFailure.misuse("two tasks receive on one connection") }
        isReceiving = true
        defer { isReceiving = false }
        let deadline = Deadline(after: allowed)
        while true {
            if let count = try rule(received, hasEnded) { return received.take(count) }
            guard !hasEnded else {
                throw ClientFailure.ended(waitingFor: what, received: received.preview).withEvidence
            }
            if try !fill(awaiting: what) { try await wait(at: socket.readable, until: deadline, for: what) }
        }
    }

    /// Calls `recv` once. Returns `false` if the kernel has no bytes now.
    private func fill(awaiting what: String) throws -> Bool {
        while true {
            try checkOpen(what)
            guard !wasReset else { throw ClientFailure.reset(waitingFor: what) }
            var failure: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                let size = recv(socket.descriptor, buffer.baseAddress, buffer.count, 0)
                failure = size < 0 ? errno : 0
                count = max(0, size)
            }
            switch failure {
            case 0:
                hasEnded = chunk.isEmpty
                received.append(chunk)
                return true
            case EINTR: continue
            case EAGAIN: return false
            case ECONNRESET: throw ClientFailure.reset(waitingFor: what)
            default: throw ClientFailure.system(call: "recv", code: failure)
            }
        }
    }

    private func wait(at gate: ReadinessGate, until deadline: Deadline, for what: String) async throws {
        let turn = gate.nextTurn()
        let wakeUp = await withTaskCancellationHandler {
            await suspend(at: gate, until: deadline, turn: turn)
        } onCancel: {
            gate.cancelLater(turn: turn)
        }
        switch wakeUp {
        case .ready: return
        case .timedOut:
            throw ClientFailure.timedOut(
                waitingFor: what, after: deadline.allowed, received: received.preview
            ).withEvidence
        case .cancelled: throw ClientFailure.cancelled(waitingFor: what)
        case .closed: throw ClientFailure.misuse("closed while waiting for \(what)")
        }
    }

    /// A separate method, so that the continuation is made on this actor. The compiler may run a closure that doesn't
    /// use `self` anywhere.
    private func suspend(at gate: ReadinessGate, until deadline: Deadline, turn: UInt64) async -> ReadinessGate.WakeUp {
        await withCheckedContinuation { gate.wait($0, until: deadline, turn: turn) }
    }

    private func checkOpen(_ what: String) throws(ClientFailure) {
        guard !isClosed else { throw .misuse("the connection is closed already; wanted \(what)") }
    }

    private func set(_ option: Int32, at level: Int32, to value: Int32) throws {
        var value = value
        guard setsockopt(socket.descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw ClientFailure.system(call: "setsockopt", code: errno)
        }
    }
}
