import Basics

/// Opening and closing of connections.
extension Pool {
    func connect(_ id: ConnectionID) {
        attempts[id] = Task { [weak self, configuration, settings, connectExecutor] in
            do {
                let session = try await PostgresSession.connect(
                    configuration, settings: settings, executor: connectExecutor)
                await self?.opened(id, await session.release())
            } catch {
                let message = (error as? PostgresError)?.message ?? "\(error)"
                await self?.connectFailed(id, message)
            }
        }
    }

    func opened(_ id: ConnectionID, _ handle: ConnectionHandle?) {
        // If the attempt was abandoned before it succeeded, the handle is released here, which closes the connection.
        guard attempts.removeValue(forKey: id) != nil else { return }
        let connection = handle.flatMap { handle in
            PipelineConnection(handle, queue: executor.queue) { [weak self] in
                self?.assumeIsolated { $0.ready(id) }
            }
        }
        guard let connection else {
            let message = "the connection can't be used"
            observer?.connection(.failed, message: message)
            return perform(machine.connectFailed(id, message: message, now: .now))
        }
        connections[id] = connection
        observer?.connection(.opened, message: "")
        perform(machine.connected(id, now: .now))
    }

    func connectFailed(_ id: ConnectionID, _ message: String) {
        guard attempts.removeValue(forKey: id) != nil else { return }
        observer?.connection(.failed, message: message)
        perform(machine.connectFailed(id, message: message, now: .now))
    }

    func cancelRunning(_ id: ConnectionID) {
        if let request = connections[id]?.cancelRequest() { cancels.send { request.send() } }
    }

    /// Closes a connection. The pool keeps the connection's slot until the server has closed its end too, or until a
    /// time limit. Waiting for the server needs another descriptor. If the process has none left, the pool frees the
    /// slot at the time limit.
    func hangUp(_ id: ConnectionID) {
        let socket = connections[id]?.linger(queue: executor.queue) { [weak self] in
            self?.assumeIsolated { $0.closed(id) }
        }
        // This assignment releases the last reference. libpq then ends the session.
        connections[id] = nil
        lingering[id] = socket
        socket?.hangUp()
    }

    func lost(_ id: ConnectionID, _ message: String) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        connection.close()
        observer?.connection(.lost, message: message)
        perform(machine.lost(id, message: message, now: .now))
    }

    func closed(_ id: ConnectionID) {
        lingering[id] = nil
        perform(machine.closed(id, now: .now))
    }
}
