import FoundationEssentials
import LetsSwitchClient

/// The commands `join` and `cheer`. `join` follows the task to other rooms.
struct RoomRun {
    /// The maximum number of requests for one task while the server is overloaded.
    static let attempts = 5
    /// The maximum wait. If the server asks for a longer one, its answer is reported as an error.
    private static let longestWait = Duration.seconds(30)

    private let id: UUID
    private let client: LetsSwitchClient
    private let output: Output

    init(_ id: UUID, _ client: LetsSwitchClient, _ output: Output) {
        self.id = id
        self.client = client
        self.output = output
    }

    func join() async throws {
        try await client.checkReachability()
        guard output.isTerminal else {
            return try await follow { room, _ in
                for try await item in room.items {
                    if let source = item.source { try output.writeObject(source, source) }
                }
                return true
            }
        }
        let visit = RoomVisit(client, RoomScreen(output))
        let keys = KeyPresses()
        let pressing = keys.map { keys in Task { for await key in keys.presses { await visit.press(key) } } }
        let following = Task { try await follow { room, task in try await visit.stay(in: room, task) } }
        let leaving = keys.map { keys in
            Task {
                for await _ in keys.untilLeaving {}
                await visit.leave()
                // Between two rooms, `follow` waits for the schedule.
                following.cancel()
            }
        }
        defer {
            pressing?.cancel()
            leaving?.cancel()
            keys?.restore()
        }
        do {
            try await following.value
        } catch {
            let isCancelled = error is CancellationError || error as? ClientError == .cancelled
            guard isCancelled, await visit.isOver else { throw error }
        }
    }

    /// Stays in the task's room. If the server moves the task because the partner left or didn't come, stays in the
    /// task's next room, too.
    ///
    /// - Parameter stay: Stays in a room until it ends. Returns `false` if no further room must be entered.
    private func follow(_ stay: (Room, RoomTask?) async throws -> Bool) async throws {
        var (id, key) = (self.id, RoomTask.Key.room(self.id))
        while true {
            // The task identifies the member. Without a task, the room is entered anonymously.
            let task = try await task(key)
            if case .task = key {
                guard let task, task.roomID != id else { return }
                id = task.roomID
            }
            let room = task.map { client.room(id, task: $0.id) } ?? client.room(id)
            guard try await stay(room, task), let task else { return }
            key = .task(task.id)
        }
    }

    /// Returns the device's task, or `nil` if the device has none or the server doesn't know it.
    func task(
        _ key: RoomTask.Key, sleep: (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) async throws -> RoomTask? {
        var asked = 0
        while true {
            do {
                return try await client.task(key)
            } catch ClientError.refused(let refusal) {
                asked += 1
                switch refusal.status {
                case 400, 401, 404: return nil
                case 429, 503:
                    let wait = max(refusal.retryAfter ?? .zero, .seconds(1))
                    guard asked < Self.attempts, wait <= Self.longestWait else { throw ClientError.refused(refusal) }
                    output.writeError("Not in the room. Trying again in \(wait.roundedUpSeconds) s.")
                    try await sleep(wait)
                default: throw ClientError.refused(refusal)
                }
            }
        }
    }

    func cheer(_ cheer: Cheer, _ times: Int) async throws {
        try await client.checkReachability()
        let room = client.room(id)
        let receiving = Task {
            do {
                try await receiveEvents(room)
            } catch {
                // Leaving the room also ends pending sends.
                await room.leave()
                throw error
            }
        }
        do {
            for _ in 0..<times { try await room.cheer(cheer) }
        } catch {
            await room.leave()
            // If the events ended with an error, that error is the cause.
            try await receiving.value
            throw error
        }
        // The close frame follows the ales. When the server answers the close frame, it has read the ales.
        await room.leave()
        try await receiving.value
    }

    /// Returns when this client has left the room. Any other end is an error, because some ales may not have reached
    /// the server.
    private func receiveEvents(_ room: Room) async throws {
        var wasIn = false
        for try await event in room.events {
            switch event {
            case .entered: wasIn = true
            case .waiting(let wait):
                guard !wasIn else { throw ClientError.unreachable("the connection was lost") }
                output.writeError("Not in the room. Trying again in \(wait.roundedUpSeconds) s.")
            case .closed(.goingAway), .ale, .presence, .rematched, .misunderstood: break
            case .closed(.lost): throw ClientError.unreachable("the connection was lost")
            case .closed(let code): throw ClientError.closed(code, reason: "")
            }
        }
    }
}
